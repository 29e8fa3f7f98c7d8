public import HTTP

/// The network that there is.
public struct RealNetwork: Network {
    private let client: Client
    private let sockets: WebSocketClient

    public init(client: Client, sockets: WebSocketClient) {
        self.client = client
        self.sockets = sockets
    }

    public func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        do throws(ClientError) {
            let response = try await client.send(request)
            return NetworkAnswer(
                status: response.status.rawValue,
                headers: response.headers,
                body: response.body
            )
        } catch {
            throw NetworkFailure(error)
        }
    }

    public func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        do throws(ClientError) {
            let response = try await client.open(request)
            let body = response.body
            return StreamedAnswer(
                status: response.status.rawValue,
                headers: response.headers
            ) { () async throws(NetworkFailure) in try await body.piece() }
        } catch {
            throw NetworkFailure(error)
        }
    }

    public func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        do throws(WebSocketError) {
            let socket = try await sockets.connect(url, headers: headers)
            return SocketLine(socket: socket, client: sockets)
        } catch {
            throw NetworkFailure(error)
        }
    }
}

extension Client.ResponseBody {
    fileprivate func piece() async throws(NetworkFailure) -> [UInt8]? {
        var pieces = makeAsyncIterator()
        do throws(ClientError) {
            return try await pieces.next()
        } catch {
            throw NetworkFailure(error)
        }
    }
}

private struct SocketLine: HubLine {
    let socket: WebSocket
    /// With it, all its sockets would end.
    let client: WebSocketClient

    func next() async throws(NetworkFailure) -> [UInt8]? {
        var messages = socket.makeAsyncIterator()
        do throws(WebSocketError) {
            switch try await messages.next() {
            case .text(let text): return Array(text.utf8)
            case .binary(let bytes): return bytes
            case nil: return nil
            }
        } catch {
            throw NetworkFailure(error)
        }
    }

    func send(text: String) async throws(NetworkFailure) {
        do throws(WebSocketError) {
            try await socket.send(.text(text))
        } catch {
            throw NetworkFailure(error)
        }
    }

    func post(_ bytes: [UInt8]) { socket.post(.binary(bytes)) }

    func hangUp() { socket.close() }
}

extension NetworkFailure {
    fileprivate init(_ error: ClientError) {
        let kind: Kind =
            switch error.reason {
            case .cancelled: .cancelled
            case .tooLarge: .tooLarge
            case .exhausted: .exhausted
            case .invalidRequest, .bodyUnreadable, .wrongLength, .local: .ours
            case .unresolvable, .unreachable, .untrusted, .timedOut, .refusedByProxy,
                .connectionLost, .malformedAnswer:
                .lost
            }
        let text = kind == .exhausted ? "\(error.reason)" : "\(error.reason) at \(error.place)"
        self.init(kind, text, isOutcomeUnknown: error.isOutcomeUnknown)
    }

    fileprivate init(_ error: WebSocketError) {
        switch error.reason {
        case .refused(let status): self.init(.refused(status: status.rawValue), "\(error)")
        case .cancelled: self.init(.cancelled, "\(error)")
        default: self.init(.lost, "\(error)")
        }
    }
}
