import Glibc
import HTTP

/// Where the operator wants the host to listen.
public enum ListenPlace: Hashable, Sendable, CustomStringConvertible {
    /// A host by number or name. `*` means all addresses of this machine, and any `Host` there.
    case tcp(host: String, port: Int)
    case unix(path: String)
    /// A socket that whoever started the program has opened: `fd+listening://N`.
    case inherited(descriptor: Int32)
    /// A connection that whoever started the program has: `fd+connected://N`.
    case connected(descriptor: Int32)

    /// Reads `127.0.0.1:8087`, `[::1]:8087`, `localhost:0`, `unix:PATH`, `fd+listening://N` and
    /// `fd+connected://N`.
    public init?(_ text: String) {
        if let place = Self(scheme: text) {
            self = place
        } else if let colon = text.lastIndex(of: ":") {
            let host = String(text[..<colon])
            self.init(bracketed: host, port: Int(text[text.index(after: colon)...]))
        } else {
            return nil
        }
    }

    /// As `bw serve` understands its `--hostname` and `--port`.
    init?(hostname: String, port: Int) {
        if let place = Self(scheme: hostname) {
            self = place
        } else if hostname == "all" {
            self = .tcp(host: "*", port: port)
        } else {
            let isBare = hostname.contains(":") && !hostname.hasPrefix("[")
            self.init(bracketed: isBare ? "[\(hostname)]" : hostname, port: port)
        }
    }

    private init?(scheme text: String) {
        if let descriptor = Self.descriptor(in: text, after: "fd+listening://") {
            self = .inherited(descriptor: descriptor)
        } else if let descriptor = Self.descriptor(in: text, after: "fd+connected://") {
            self = .connected(descriptor: descriptor)
        } else if text.hasPrefix("unix:") {
            let path = text.dropFirst(text.hasPrefix("unix://") ? 7 : 5)
            guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
            self = .unix(path: String(path))
        } else {
            return nil
        }
    }

    private static func descriptor(in text: String, after scheme: String) -> Int32? {
        guard text.hasPrefix(scheme) else { return nil }
        return Int32(text.dropFirst(scheme.count)).flatMap { $0 >= 0 ? $0 : nil }
    }

    private init?(bracketed text: String, port: Int?) {
        guard let port, (0...65_535).contains(port) else { return nil }
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = isBracketed ? String(text.dropFirst().dropLast()) : text
        guard isBracketed == host.contains(":"), !host.isEmpty,
            host.utf8.allSatisfy(\.isHostByte)
        else { return nil }
        if isBracketed, !Self.isNumeric(host, AF_INET6) { return nil }
        self = .tcp(host: host == "*" ? "*" : host.lowercased(), port: port)
    }

    private static func isNumeric(_ host: String, _ family: Int32) -> Bool {
        var address = in6_addr()
        return inet_pton(family, host, &address) == 1
    }

    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .inherited(let descriptor): "fd+listening://\(descriptor)"
        case .connected(let descriptor): "fd+connected://\(descriptor)"
        }
    }

    /// Whether only this machine can come in there. Of an inherited socket that is seen later.
    public var isPrivate: Bool {
        switch self {
        case .unix, .inherited, .connected: true
        case .tcp("localhost", _): true
        case .tcp(let host, _): SocketAddress(host: host, port: 0).isLoopback && host.isNumeric
        }
    }
}

extension String {
    /// Whether it is an address rather than a name; `127.evil.example` is none.
    fileprivate var isNumeric: Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, self, &address) == 1 || inet_pton(AF_INET6, self, &address) == 1
    }
}

extension UInt8 {
    fileprivate var isHostByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:*%".utf8.contains(self)
        }
    }
}
