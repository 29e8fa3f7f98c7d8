public import HTTP

/// How requests get to an upstream and answers back. One of the world's edges: the real network in
/// the host, a simulated one in a simulation.
public protocol Network: Sendable {
    /// Sends the request and returns the whole answer.
    func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer

    /// Sends the request and returns the answer's head; the body comes as it is read.
    func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer

    /// Opens the line on which upstream tells what happens.
    func openLine(_ url: String, headers: Headers) async throws(NetworkFailure) -> any HubLine
}

/// Why there is no answer.
public struct NetworkFailure: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Nobody answered, or not to the end.
        case lost
        /// The line to the hub was refused with that status.
        case refused(status: Int)
        /// There was an answer, larger than any that was expected.
        case tooLarge
        case cancelled
        /// This host has no descriptor or no memory left for a connection. It says nothing about upstream.
        case exhausted
        /// It says nothing about upstream: this machine lacks something, or the request is none.
        case ours
    }

    public let kind: Kind
    /// For people; without paths, queries and headers, which may hold secrets.
    public let text: String
    /// Whether upstream may have done what was asked all the same.
    public let isOutcomeUnknown: Bool

    public init(_ kind: Kind, _ text: String, isOutcomeUnknown: Bool = false) {
        self.kind = kind
        self.text = text
        self.isOutcomeUnknown = isOutcomeUnknown
    }
}

/// What came back, whole.
public struct NetworkAnswer: Sendable {
    public var status: Int
    public var headers: Headers
    public var body: [UInt8]

    public init(status: Int, headers: Headers = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

public struct StreamedAnswer: Sendable {
    public var status: Int
    public var headers: Headers
    /// Returns the body piece by piece, and nil after the last. Whoever lets go of it, or is
    /// cancelled, ends the transfer.
    public var next: @Sendable () async throws(NetworkFailure) -> [UInt8]?

    public init(
        status: Int,
        headers: Headers = [:],
        next: @escaping @Sendable () async throws(NetworkFailure) -> [UInt8]?
    ) {
        self.status = status
        self.headers = headers
        self.next = next
    }
}

/// A line that stays open: messages come and go until one end hangs up.
public protocol HubLine: Sendable {
    /// The next message, or nil after an orderly end. One reader. Text comes as its UTF-8.
    func next() async throws(NetworkFailure) -> [UInt8]?
    func send(text: String) async throws(NetworkFailure)
    /// Sends something for whose fate nobody waits.
    func post(_ bytes: [UInt8])
    func hangUp()
}
