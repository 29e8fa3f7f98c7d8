import Glibc

/// Through which proxies the world is reached.
///
/// Read once, as a value, so that a change of the environment never splits the host in two.
public struct Proxies: Sendable, Equatable {
    public var http: String?
    public var https: String?
    /// Hosts that are reached directly: names (and all below them), addresses, networks such as
    /// `10.0.0.0/8`, each perhaps with a port, or `*` for all.
    public var exceptions: [String]

    public init(http: String? = nil, https: String? = nil, exceptions: [String] = []) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// What the usual variables say.
    ///
    /// `http_proxy` counts in lower case only: under CGI, a request's `Proxy` header would set the
    /// other. Where both cases count, the lower one goes first.
    public init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        http = value("http_proxy") ?? all
        https = value("https_proxy", "HTTPS_PROXY") ?? all
        exceptions = (value("no_proxy", "NO_PROXY") ?? "")
            .split { $0 == "," || $0 == " " }
            .map(String.init)
    }

    /// The proxy through which that server is reached; `nil` if it is reached directly.
    func proxy(for target: Destination) -> String? {
        let isSecure = target.scheme == "https" || target.scheme == "wss"
        guard let proxy = isSecure ? https : http else { return nil }
        return exceptions.contains { isException($0, target) } ? nil : proxy
    }

    /// A proxy as errors name it: by its host and port, without user and password. `nil` if there is none.
    static func place(of proxy: String) -> String? {
        let address = proxy.firstRange(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
        let named =
            address.lastIndex(of: "@").map { address[address.index(after: $0)...] } ?? address
        let place = named.prefix { !"/?#".contains($0) }
        return place.isEmpty ? nil : String(place)
    }

    private func isException(_ exception: String, _ target: Destination) -> Bool {
        if exception == "*" { return true }
        if let network = Network(exception) { return network.contains(target.host) }
        let (name, port) = nameAndPort(exception)
        guard port == nil || port == target.port, !name.isEmpty else { return false }
        return target.host == name || target.host.hasSuffix("." + name)
    }

    private func nameAndPort(_ exception: String) -> (name: String, port: Int?) {
        let text = exception.lowercased()
        if text.hasPrefix("[") {
            let parts = text.dropFirst().split(separator: "]", maxSplits: 1)
            return (parts.first.map(String.init) ?? "", parts.last.flatMap { Int($0.dropFirst()) })
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { return (text, nil) }
        let name = parts[0].hasPrefix(".") ? parts[0].dropFirst() : parts[0]
        return (String(name), parts.count == 2 ? Int(parts[1]) : nil)
    }
}

/// Whose passwords are in there is not to be read in any text that is made of it, nor of what holds
/// it.
extension Proxies: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        let texts = [("http", http), ("https", https)].map {
            "\($0): \($1.map(disguised) ?? "none")"
        }
        return "Proxies(\(texts.joined(separator: ", ")), exceptions: \(exceptions))"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        let children: [Mirror.Child] = [
            ("http", http.map(disguised) as Any), ("https", https.map(disguised) as Any),
            ("exceptions", exceptions),
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

/// The address of a proxy without user and password.
private func disguised(_ proxy: String) -> String {
    guard let end = proxy.lastIndex(of: "@") else { return proxy }
    let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
    return proxy[..<min(start, end)] + "‹secret›" + proxy[end...]
}

/// A range of addresses, such as `10.0.0.0/8` or `fd00::/8`.
private struct Network {
    let prefix: [UInt8]
    let bits: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = Int(parts[1]),
            let prefix = addressBytes(String(parts[0])),
            (0...(prefix.count * 8)).contains(bits)
        else { return nil }
        self.prefix = prefix
        self.bits = bits
    }

    func contains(_ host: String) -> Bool {
        guard let address = addressBytes(host), address.count == prefix.count else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            return address[bit / 8] & mask == prefix[bit / 8] & mask
        }
    }
}

/// The bytes of a numeric address, 4 or 16; `nil` for a name.
func addressBytes(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
}
