import CSystem

/// Who sits at the other end of a connection.
public enum Peer: Sendable, Equatable {
    case tcp(SocketAddress)
    /// A process of this machine, as the kernel knows it.
    case unix(Credentials)
    /// Nobody: the request was made in this process.
    case memory

    public struct Credentials: Sendable, Equatable {
        public let user: UInt32
        public let group: UInt32
        public let process: Int32
    }
}

/// A numeric address with its port.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }
    public var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Peer.Credentials {
    /// What the kernel says; it cannot be told lies.
    init?(of descriptor: Int32) {
        var user: UInt32 = 0
        var group: UInt32 = 0
        var process: Int32 = 0
        guard cs_peer_credentials(descriptor, &user, &group, &process) == 0 else { return nil }
        self.init(user: user, group: group, process: process)
    }
}
