import System

/// Where the driver leaves whole messages, and the reader takes them.
final class MessagePipe: Sendable {
    typealias End = Result<Void, WebSocketError>
    typealias Answer = Result<Taken?, WebSocketError>

    struct Taken {
        let message: WebSocketMessage
        /// Whether the server had been made to wait, and need not any more.
        let freedRoom: Bool
    }

    fileprivate struct State {
        var messages: ArraySlice<WebSocketMessage> = []
        var bytes = 0
        var isFull = false
        var end: End?
        var goodbye: UInt16?
        var reader: CheckedContinuation<Answer, Never>?
    }

    private let window: Int
    private let state = Lock(State())

    init(window: Int) { self.window = window }

    /// - Returns: Whether there is room for more.
    func put(_ message: WebSocketMessage) -> Bool {
        act { state in
            state.messages.append(message)
            state.bytes += message.cost
            state.isFull = state.bytes >= window
            return !state.isFull
        }
    }

    /// With which code the server said goodbye.
    var goodbye: UInt16? { state.withLock(\.goodbye) }

    func note(goodbye code: UInt16) {
        state.withLock { $0.goodbye = code }
    }

    /// After this only what is here already can be read. The first end counts.
    func finish(_ end: End) {
        act { state in
            state.end = state.end ?? end
            return true
        }
    }

    /// Nobody reads any more.
    func abandon(_ error: WebSocketError) {
        act { state in
            state.messages = []
            state.bytes = 0
            state.end = .failure(error)
            return true
        }
    }

    func next() async -> Answer {
        await withCheckedContinuation { reader in
            let answer = state.withLock { state -> Answer? in
                let answer = state.take(window: window)
                if answer == nil {
                    precondition(state.reader == nil, "A WebSocket has one reader.")
                    state.reader = reader
                }
                return answer
            }
            if let answer { reader.resume(returning: answer) }
        }
    }

    @discardableResult
    private func act(_ change: (inout State) -> Bool) -> Bool {
        let (result, reader, answer) = state.withLock { state in
            let result = change(&state)
            guard state.reader != nil, let answer = state.take(window: window) else {
                return (result, nil as CheckedContinuation<Answer, Never>?, nil as Answer?)
            }
            return (result, state.reader.take(), answer)
        }
        if let reader, let answer { reader.resume(returning: answer) }
        return result
    }
}

extension MessagePipe.State {
    /// The next message or the end; `nil` while there is neither. The server may go on once half of
    /// the window is free, so that it does not start and stop with each message.
    fileprivate mutating func take(window: Int) -> MessagePipe.Answer? {
        guard let message = messages.popFirst() else { return end.map { $0.map { nil } } }
        bytes -= message.cost
        let freedRoom = isFull && bytes <= window / 2
        if freedRoom { isFull = false }
        return .success(MessagePipe.Taken(message: message, freedRoom: freedRoom))
    }
}

extension WebSocketMessage {
    /// What it takes to keep it; an empty message costs something too.
    var cost: Int {
        switch self {
        case .text(let text): text.utf8.count + 64
        case .binary(let bytes): bytes.count + 64
        }
    }
}
