import Glibc
import HTTP
import System

/// The listeners of one server: where they are to be, and by which names they are asked for.
struct Listening: Sendable {
    private struct Entry: Sendable {
        let listener: Listener
        /// The host as the operator named it; nil if nobody did.
        let host: String?
    }

    private let entries: [Entry]

    var listeners: [Listener] { entries.map(\.listener) }

    init(_ places: [ListenPlace]) throws(ShellError) {
        var entries: [Entry] = []
        for place in places {
            for spot in try place.spots() {
                let name = "\(place) \(entries.count)"
                entries.append(Entry(listener: Listener(name: name, spot.place), host: spot.host))
            }
        }
        self.entries = entries
    }

    /// By the names of the doors, once it is known which ports they have.
    func names(_ open: [OpenListener]) -> [String: HostNames] {
        var names: [String: HostNames] = [:]
        for (entry, listener) in zip(entries, open) {
            switch listener.address {
            case .unix: names[listener.door.name] = .any
            case .tcp(let address):
                names[listener.door.name] =
                    entry.host == "*"
                    ? .any : .at(entry.host ?? address.host, address.host, port: address.port)
            }
        }
        return names
    }
}

extension ListenPlace {
    fileprivate typealias Spot = (place: Listener.Place, host: String?)

    fileprivate func spots() throws(ShellError) -> [Spot] {
        switch self {
        case .unix(let path): [(.unix(path: path), nil)]
        case .inherited(let descriptor): [(.open(descriptor: descriptor), nil)]
        case .connected(let descriptor): [(.connected(descriptor: descriptor), nil)]
        case .tcp("*", let port): Self.everywhere(port)
        case .tcp(let host, let port):
            [(.tcp(SocketAddress(host: try Self.number(of: host), port: port)), host)]
        }
    }

    /// What was handed down has to listen already, or be connected: nobody would ever come in, and nobody would be
    /// told.
    func requireListener() throws(ShellError) {
        switch self {
        case .inherited(let descriptor):
            guard Self.isStream(descriptor), Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else {
                throw .listener("\(self) is no socket that listens.")
            }
        case .connected(let descriptor):
            var (address, size) = (sockaddr(), socklen_t(MemoryLayout<sockaddr>.size))
            guard Self.isStream(descriptor), getpeername(descriptor, &address, &size) == 0 else {
                throw .listener("\(self) is no socket that is connected.")
            }
        case .tcp, .unix: return
        }
    }

    /// Whether what was handed down is the socket that others find there.
    func isBound(to place: ListenPlace) -> Bool {
        guard case .inherited(let descriptor) = self, case .unix(let path) = place,
            let bound = Self.path(of: descriptor)
        else { return false }
        var (there, here) = (stat(), stat())
        return stat(path, &there) == 0 && stat(bound, &here) == 0
            && there.st_dev == here.st_dev && there.st_ino == here.st_ino
    }

    /// Where a Unix socket is; nil if it is none, or has no name.
    private static func path(of descriptor: Int32) -> String? {
        var (address, size) = (sockaddr_un(), socklen_t(MemoryLayout<sockaddr_un>.size))
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        guard code == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private static func isStream(_ descriptor: Int32) -> Bool {
        option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var (value, size): (Int32, socklen_t) = (0, 4)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    /// All addresses; of both kinds, if the machine has both. A port that is picked is picked once.
    private static func everywhere(_ port: Int) -> [Spot] {
        let old: Spot = (.tcp(SocketAddress(host: "0.0.0.0", port: port)), "*")
        let hasIPv6 = (try? Files.read("/proc/net/if_inet6"))?.isEmpty == false
        guard hasIPv6, port != 0 else { return [old] }
        return [old, (.tcp(SocketAddress(host: "::", port: port)), "*")]
    }

    /// The first address that the system knows for a name.
    private static func number(of host: String) throws(ShellError) -> String {
        if host == "localhost" { return "127.0.0.1" }
        var wish = addrinfo()
        wish.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &wish, &found)
        guard code == 0, let found else {
            throw .unknownHost(host, reason: String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(found) }
        var text = [CChar](repeating: 0, count: 256)
        let length = found.pointee.ai_addrlen
        getnameinfo(found.pointee.ai_addr, length, &text, 256, nil, 0, NI_NUMERICHOST)
        return String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }
}

/// Why the host cannot open its doors.
public enum ShellError: Error, Hashable, CustomStringConvertible {
    case listener(String)
    case unknownHost(String, reason: String)
    case readyFile(path: String, reason: String)
    /// Tokens are asked of nobody, and somebody from elsewhere could come in.
    case openToAll(String)
    /// This process may have too few files and sockets open.
    case tooFewDescriptors(UInt64)

    public var description: String {
        switch self {
        case .listener(let text): text
        case .unknownHost(let host, let reason):
            "Cannot listen on \(host): \(reason). Give an address of this machine."
        case .readyFile(let path, let reason): "Cannot write \(path): \(reason)."
        case .openToAll(let address):
            "--no-auth is for loopback and Unix sockets only, and \(address) is neither."
        case .tooFewDescriptors(let count):
            "This process may have \(count) files open, and a host needs \(Allotment.least)."
                + " Raise that limit (ulimit -n, or LimitNOFILE in a unit)."
        }
    }
}
