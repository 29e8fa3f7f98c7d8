public import HTTP

/// The real network.
public struct NetworkTransport: Transport {
    private let client: Client
    private let sockets: WebSocketClient

    public init(client: Client, sockets: WebSocketClient) {
        self.client = client
        self.sockets = sockets
    }

    public func send(_ request: Client.Request) async throws(ClientError) -> Answer {
        let response = try await client.send(request)
        return Answer(
            status: response.status.rawValue,
            headers: response.headers,
            body: response.body
        )
    }

    public func open(_ request: Client.Request) async throws(ClientError) -> StreamedAnswer {
        let response = try await client.open(request)
        let body = response.body
        return StreamedAnswer(
            status: response.status.rawValue,
            headers: response.headers
        ) { () async throws(ClientError) -> [UInt8]? in
            var pieces = body.makeAsyncIterator()
            return try await pieces.next()
        }
    }

    public func openLine(
        _ url: String,
        headers: Headers
    ) async throws(WebSocketError) -> any HubLine {
        SocketLine(socket: try await sockets.connect(url, headers: headers))
    }
}

private struct SocketLine: HubLine {
    let socket: WebSocket

    func next() async throws(WebSocketError) -> [UInt8]? {
        var messages = socket.makeAsyncIterator()
        switch try await messages.next() {
        case .text(let text): return Array(text.utf8)
        case .binary(let bytes): return bytes
        case nil: return nil
        }
    }

    func send(text: String) async throws(WebSocketError) { try await socket.send(.text(text)) }
    func send(_ bytes: [UInt8]) async throws(WebSocketError) {
        try await socket.send(.binary(bytes))
    }
    func hangUp() { socket.close() }
}
