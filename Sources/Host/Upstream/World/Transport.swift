public import HTTP

/// How requests get to an upstream and answers back. One of the world's edges: the network in the
/// host, a simulated one in a simulation.
public protocol Transport: Sendable {
    /// Sends the request and returns the whole answer.
    func send(_ request: Client.Request) async throws(ClientError) -> Answer

    /// Sends the request and returns the answer's head; the body comes as it is read.
    func open(_ request: Client.Request) async throws(ClientError) -> StreamedAnswer

    /// Opens the line on which upstream tells what happens.
    func openLine(_ url: String, headers: Headers) async throws(WebSocketError) -> any HubLine
}

public struct Answer: Sendable {
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
    public var next: @Sendable () async throws(ClientError) -> [UInt8]?

    public init(
        status: Int,
        headers: Headers = [:],
        next: @escaping @Sendable () async throws(ClientError) -> [UInt8]?
    ) {
        self.status = status
        self.headers = headers
        self.next = next
    }
}

/// A line that stays open: messages come and go until one end hangs up.
public protocol HubLine: Sendable {
    /// The next message, or nil after an orderly end. One reader. Text comes as its UTF-8.
    func next() async throws(WebSocketError) -> [UInt8]?
    func send(text: String) async throws(WebSocketError)
    func send(_ bytes: [UInt8]) async throws(WebSocketError)
    func hangUp()
}
