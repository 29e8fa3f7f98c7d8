/// A place at which clients are let in, by its name.
///
/// The name is what a handler tells its listeners apart by; it is never looked up anywhere.
public struct Door: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case tcp
        case unix
        case memory
    }

    public let name: String
    public let kind: Kind
    /// Whether it has one connection, which was handed down. Nobody else comes in there, so that may rest as long as
    /// it likes.
    public let isHandedDown: Bool

    public init(name: String, kind: Kind, isHandedDown: Bool = false) {
        self.name = name
        self.kind = kind
        self.isHandedDown = isHandedDown
    }

    public static let memory = Door(name: "memory", kind: .memory)
}

/// Where a server is to listen.
public struct Listener: Sendable {
    public enum Place: Sendable, Equatable {
        /// A numeric IPv4 or IPv6 address. Port 0 picks one.
        case tcp(SocketAddress)
        /// A socket file, for its owner only. One that nobody answers at is replaced; it is removed
        /// when the server stops.
        case unix(path: String)
        /// A socket that listens already, TCP or Unix, handed down by whoever started the process.
        case open(descriptor: Int32)
        /// A connection that is there already, likewise.
        case connected(descriptor: Int32)
    }

    public let name: String
    public let place: Place

    public init(name: String, _ place: Place) {
        self.name = name
        self.place = place
    }
}

/// A listener that is open, with its real address.
public struct OpenListener: Sendable, Equatable {
    public enum Address: Sendable, Equatable {
        case tcp(SocketAddress)
        case unix(path: String)
    }

    public let door: Door
    public let address: Address
}

/// Why a server could not start.
public enum ServerError: Error, Equatable, CustomStringConvertible {
    case addressTaken(String)
    case addressRefused(String, reason: String)
    case unusable(reason: String)

    public var description: String {
        switch self {
        case .addressTaken(let address):
            "Cannot listen on \(address): somebody else does. Stop it, or choose another address."
        case .addressRefused(let address, let reason):
            "Cannot listen on \(address): \(reason)."
        case .unusable(let reason):
            "The server cannot start: \(reason)."
        }
    }
}
