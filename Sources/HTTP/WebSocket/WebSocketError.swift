/// Why a WebSocket cannot be opened, or does not go on.
///
/// It names the server, never a path, a query or a header.
public struct WebSocketError: Error, Equatable, Sendable {
    public let reason: Reason
    /// Scheme, host and port.
    public let server: String

    public enum Reason: Error, Equatable {
        /// No address for that name.
        case unresolvable
        case unreachable
        /// The connection cannot be made private, or the server is not who it should be.
        case untrusted(String)
        /// Not open within the deadline.
        case timedOut
        /// The server, or a proxy, answered with another status than 101.
        case refused(Status)
        case connectionLost
        /// Nothing was heard for too long, not even an answer to a ping.
        case silent
        /// A message is longer than is accepted.
        case tooLarge(limit: Int)
        case malformed(String)
        /// It was closed before.
        case closed
        case cancelled
        case invalidRequest(String)
        case local(String)
    }
}

extension WebSocketError: CustomStringConvertible {
    public var description: String { "WebSocket to \(server): \(reason). \(hint)" }

    /// What the operator can do about it.
    public var hint: String {
        switch reason {
        case .unresolvable: "Check the server's name and this machine's DNS."
        case .unreachable: "Check that the server runs and that no firewall is in between."
        case .untrusted:
            "Check the server's certificate, and the extra authorities if it is private."
        case .timedOut, .silent: "Check the network between here and the server."
        case .refused(.unauthorized): "The token is not accepted (any more)."
        case .refused: "Check that the server, and what stands before it, lets WebSockets through."
        case .connectionLost: "The server, or something before it, ended the connection."
        case .tooLarge, .malformed: "What answers may not be the right server."
        case .closed, .cancelled: "Nothing has to be done."
        case .invalidRequest: "Check the configured address."
        case .local: "Check the limits of this process (open files, memory)."
        }
    }
}

/// What is said to each other over a WebSocket.
public enum WebSocketMessage: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
}

extension WebSocketClient {
    public struct Configuration: Sendable {
        public var proxies = Proxies()
        /// A file of PEM certificates that are trusted besides those of the system.
        public var extraAuthoritiesPath: String?
        /// Until a socket is open, everything included.
        public var connectDeadline: Duration = .seconds(20)
        /// How often the server is asked for a sign of life.
        public var pingInterval: Duration = .seconds(15)
        /// After how long without one the connection counts as lost.
        public var silenceLimit: Duration = .seconds(45)
        /// How many bytes a message may have, in all its fragments together.
        public var messageLimit = 1 << 20
        /// How many bytes of whole messages wait for their reader; then the server waits.
        public var window = 1 << 20
        /// How many sockets there may be at a time; the library knows a limit of its own.
        public var socketLimit = Int.max

        public init() {}
    }
}
