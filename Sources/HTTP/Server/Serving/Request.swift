/// What a client asks.
public struct Request: Sendable {
    /// What the path held where the route's template has names, decoded and in order. Set by the ``Router``.
    public internal(set) var parameters: [String] = []
    private let contents: Contents

    public var method: Method { contents.method }
    public var target: Target { contents.target }
    public var headers: Headers { contents.headers }
    public var peer: Peer { contents.peer }
    /// By which door it came in.
    public var door: Door { contents.door }
    /// The body, piece by piece. It can be read once.
    public var body: RequestBody { contents.body }

    public init(
        _ method: Method,
        _ target: Target,
        headers: Headers = [:],
        body: RequestBody = .none,
        peer: Peer = .memory,
        door: Door = .memory
    ) {
        contents = Contents(
            method: method,
            target: target,
            headers: headers,
            body: body,
            peer: peer,
            door: door
        )
    }

    /// The whole body, if it has no more than `limit` bytes.
    ///
    /// A body that is declared to be longer is refused without waiting for it, and a client that
    /// asked with `Expect: 100-continue` never sends it.
    public func body(limit: Int) async throws(BodyError) -> [UInt8] {
        try await body.collect(limit: limit)
    }

    /// The last event that a client of an event stream has seen.
    public var lastEventID: String? { headers["Last-Event-ID"] }
}

extension Request {
    // Shared, because a request is handed on from function to function many times.
    private final class Contents: Sendable {
        let method: Method
        let target: Target
        let headers: Headers
        let body: RequestBody
        let peer: Peer
        let door: Door

        init(
            method: Method,
            target: Target,
            headers: Headers,
            body: RequestBody,
            peer: Peer,
            door: Door
        ) {
            self.method = method
            self.target = target
            self.headers = headers
            self.body = body
            self.peer = peer
            self.door = door
        }
    }
}

/// Answers requests. It never fails: what goes wrong is an answer as well, and is made into one at
/// one place, by whoever composes the handler.
public typealias Handler = @Sendable (Request) async -> Response
