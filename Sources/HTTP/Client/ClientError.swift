import Glibc

/// Why there is no response.
///
/// It names the operation and the server, never a path, a query, a header or a body.
public struct ClientError: Error, Equatable, Sendable {
    public let reason: Reason
    public let operation: String
    /// Scheme, host and port, or the path of the Unix socket.
    public let server: String
    public let progress: Progress
    /// Host and port of the proxy through which the server was asked, if there is one.
    public var proxy: String?

    public enum Reason: Equatable, Sendable {
        /// No address for that name, or nobody there to ask for it.
        case unresolvable(Host)
        /// Nobody answers at that address; the system's reason, or 0.
        case unreachable(code: Int32)
        /// The connection cannot be made private, or the server is not who it should be.
        case untrusted(String)
        case timedOut(Phase)
        /// The proxy makes no way to the server, for one because it wants to know who asks; its status is in the text.
        case refusedByProxy(String)
        /// The connection broke, or ended before the response did.
        case connectionLost
        case tooLarge(Part, limit: Int)
        /// What came is not HTTP, or not encoded as it says.
        case malformedAnswer(String)
        case cancelled
        case invalidRequest(String)
        /// What should have been sent could not be read.
        case bodyUnreadable(String)
        /// The source of the body has given more (if so, at least so many bytes) or less than was
        /// declared. The whole has not been sent.
        case wrongLength(declared: Int, given: Int)
        /// This process has no descriptor left for a connection, or this machine no memory. It says nothing of
        /// the server.
        case exhausted(code: Int32)
        /// This machine lacks something else: ports, a permission, a client that is not closed.
        case local(String)
    }

    public enum Host: Equatable, Sendable { case server, proxy }
    public enum Phase: Equatable, Sendable { case connect, total, stalled }
    public enum Part: Equatable, Sendable { case head, body }

    /// How far it had come.
    public struct Progress: Equatable, Sendable {
        public enum Sent: Equatable, Sendable {
            case nothing
            /// Begun, but not to its end, so no honest server can have acted on it.
            case part
            case whole
        }

        public var sent: Sent
        /// Whether any byte of a response came back.
        public var isAnswered: Bool

        public init(sent: Sent = .nothing, isAnswered: Bool = false) {
            self.sent = sent
            self.isAnswered = isAnswered
        }
    }

    /// Whether the server may have done what was asked although no response says so.
    public var isOutcomeUnknown: Bool { progress.sent == .whole }
}

extension ClientError: CustomStringConvertible {
    public var description: String { "\(operation) at \(place): \(reason). \(hint)" }

    /// Where it failed, which may have been on the way.
    public var place: String { proxy.map { "\(server) through the proxy \($0)" } ?? server }

    /// What the operator can do about it.
    public var hint: String {
        switch reason {
        case .unresolvable(.server): "Check the server's name and this machine's DNS."
        case .unresolvable(.proxy): "Check the proxy's name in http_proxy or https_proxy."
        case .unreachable where proxy != nil: "Check the proxy, and that it lets this host through."
        case .unreachable: "Check that the server runs and that no firewall is in between."
        case .untrusted:
            "Check the server's certificate, and the extra authorities if it is private."
        case .timedOut(.connect): "Check the network between here and the server."
        case .timedOut: "The server or the network is slow; it may be overloaded."
        case .refusedByProxy:
            "Check the proxy, what it asks for, and that it lets this host through."
        case .connectionLost: "The server, or something before it, ended the connection."
        case .tooLarge: "The answer is larger than expected; it may not come from the right server."
        case .malformedAnswer: "Something that does not speak HTTP answers at this address."
        case .cancelled: "Nothing has to be done."
        case .invalidRequest: "Check the configured address."
        case .bodyUnreadable: "Check the file that was to be sent."
        case .wrongLength: "What was to be sent has changed meanwhile; try again."
        case .exhausted, .local: "Check the limits of this process (open files, memory)."
        }
    }
}

extension ClientError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unresolvable(.server): "the name cannot be resolved"
        case .unresolvable(.proxy): "the proxy's name cannot be resolved"
        case .unreachable(let code): "nobody can be reached there (\(systemText(code)))"
        case .untrusted(let text): "no trusted connection (\(text))"
        case .timedOut(.connect): "no connection in time"
        case .timedOut(.total): "no whole answer in time"
        case .timedOut(.stalled): "the transfer stalled"
        case .refusedByProxy(let text): "the proxy refuses (\(text))"
        case .connectionLost: "the connection was lost"
        case .tooLarge(.head, let limit): "the head of the answer exceeds \(limit)"
        case .tooLarge(.body, let limit): "the body of the answer exceeds \(limit) bytes"
        case .malformedAnswer(let text): "the answer is malformed (\(text))"
        case .cancelled: "cancelled"
        case .invalidRequest(let text): "the request is invalid (\(text))"
        case .bodyUnreadable(let text): "the body cannot be read (\(text))"
        case .wrongLength(let declared, let given):
            "the body was declared with \(declared) bytes, and \(given) were given"
        case .exhausted(let code): "no connection can be opened from here (\(systemText(code)))"
        case .local(let text): "this machine cannot do it (\(text))"
        }
    }
}

private func systemText(_ code: Int32) -> String {
    code == 0 ? "no reason given" : String(cString: strerror(code))
}
