/// An open WebSocket. Messages are read with `for try await`, by one reader.
///
/// Reading ends after the server has closed the socket in good order, and throws if the connection
/// breaks, falls silent, or brings what cannot be accepted. Nobody tries again on their own. A
/// socket that nobody holds any more is closed.
public final class WebSocket: AsyncSequence, Sendable {
    let driver: WebSocketDriver
    let id: UInt64
    let pipe: MessagePipe
    let server: String

    init(driver: WebSocketDriver, id: UInt64, pipe: MessagePipe, server: String) {
        self.driver = driver
        self.id = id
        self.pipe = pipe
        self.server = server
    }

    deinit { driver.post(.cancel(id)) }

    /// The code with which the server said goodbye; `nil` while it has not. 1005 stands for none.
    public var goodbye: UInt16? { pipe.goodbye }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let socket: WebSocket

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(WebSocketError) -> WebSocketMessage? {
            try await socket.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: self) }

    /// The next message, or `nil` after an orderly end. A reader who is cancelled ends the socket.
    private func next() async throws(WebSocketError) -> WebSocketMessage? {
        let answer = await withTaskCancellationHandler {
            await pipe.next()
        } onCancel: {
            driver.post(.cancel(id))
        }
        let taken = try answer.get()
        if taken?.freedRoom == true { driver.post(.resume(id)) }
        return taken?.message
    }

    /// Sends a message and returns when it has left for the network. Waits while the network is slow;
    /// whoever is cancelled meanwhile takes the message back, unless it has begun to leave.
    public func send(_ message: WebSocketMessage) async throws(WebSocketError) {
        let ticket = driver.nextID()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (sender: CheckedContinuation<Result<Void, WebSocketError.Reason>, Never>) in
                let letter = Letter(ticket: ticket, message: message, sender: sender)
                if let reason = driver.submit(.send(id, letter)) {
                    sender.resume(returning: .failure(reason))
                }
            }
        } onCancel: {
            driver.post(.takeBack(id, ticket))
        }
        if case .failure(let reason) = outcome {
            throw WebSocketError(reason: reason, server: server)
        }
    }

    /// Sends a message for whose fate nobody waits.
    public func post(_ message: WebSocketMessage) {
        let letter = Letter(ticket: driver.nextID(), message: message, sender: nil)
        _ = driver.submit(.send(id, letter))
    }

    /// Says goodbye. What has been sent before leaves first; the server's answer ends the reading.
    public func close(code: UInt16 = 1000) {
        driver.post(.goodbye(id, code))
    }
}

/// A message on its way out.
struct Letter: Sendable {
    let ticket: UInt64
    let message: WebSocketMessage
    /// Who waits until it has left; nobody if it was posted.
    let sender: CheckedContinuation<Result<Void, WebSocketError.Reason>, Never>?
}
