import System

extension Client {
    /// A response's body as it arrives. One reader, once.
    ///
    /// Only a window of it waits here; when the window is full, the server waits. Whoever lets go of
    /// the body before its end, or is cancelled, ends the transfer.
    public final class ResponseBody: AsyncSequence, Sendable {
        private let pipe: ResponsePipe
        private let client: Client
        private let id: UInt64

        init(pipe: ResponsePipe, client: Client, id: UInt64) {
            self.pipe = pipe
            self.client = client
            self.id = id
        }

        public struct AsyncIterator: AsyncIteratorProtocol {
            let body: ResponseBody

            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(ClientError) -> [UInt8]? {
                try await body.next()
            }
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

        private func next() async throws(ClientError) -> [UInt8]? {
            let piece = await withTaskCancellationHandler {
                await pipe.next()
            } onCancel: {
                client.driver.cancel(id)
            }
            let taken = try piece.get()
            if taken?.freedRoom == true { client.driver.resume(id) }
            return taken?.bytes
        }

        deinit { client.driver.cancel(id) }
    }
}

/// Where the driver leaves what arrives, and the reader takes it.
final class ResponsePipe: Sendable {
    struct Piece {
        let bytes: [UInt8]
        /// Whether the transfer had been paused because the window was full.
        let freedRoom: Bool
    }

    typealias Answer = Result<Piece?, ClientError>

    private struct State {
        var waiting: [UInt8] = []
        var isPaused = false
        var end: Result<Void, ClientError>?
        var reader: CheckedContinuation<Answer, Never>?

        mutating func hasRoom(in window: Int) -> Bool {
            isPaused = waiting.count >= window
            return !isPaused
        }

        mutating func take() -> Answer? {
            guard waiting.isEmpty else {
                defer { (waiting, isPaused) = ([], false) }
                return .success(Piece(bytes: waiting, freedRoom: isPaused))
            }
            return end.map { $0.map { nil } }
        }
    }

    private let window: Int
    private let state = Lock(State())

    init(window: Int) { self.window = window }

    /// - Returns: Whether there was room. If not, the same bytes come again after a resume.
    func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
        act { state in
            guard state.hasRoom(in: window) else { return false }
            state.waiting.append(contentsOf: bytes)
            return true
        }
    }

    /// Whether the next ``put(_:)`` will be taken. If not, there will be a resume.
    func hasRoom() -> Bool {
        state.withLock { $0.hasRoom(in: window) }
    }

    func finish(_ end: Result<Void, ClientError>) {
        act { $0.end = $0.end ?? end }
    }

    func next() async -> Answer {
        await withCheckedContinuation { reader in
            let answer = state.withLock { state -> Answer? in
                let answer = state.take()
                if answer == nil {
                    precondition(state.reader == nil, "A body has one reader.")
                    state.reader = reader
                }
                return answer
            }
            if let answer { reader.resume(returning: answer) }
        }
    }

    /// Changes the state, and hands over to a reader who waits if there is something now.
    private func act<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, reader, answer) = state.withLock { state in
            let result = change(&state)
            guard state.reader != nil, let answer = state.take() else {
                return (result, nil as CheckedContinuation<Answer, Never>?, nil as Answer?)
            }
            return (result, state.reader.take(), answer)
        }
        if let reader, let answer { reader.resume(returning: answer) }
        return result
    }
}
