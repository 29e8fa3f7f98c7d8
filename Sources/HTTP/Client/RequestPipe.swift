import System

/// Where a task leaves what is to be sent, and the driver takes it.
final class RequestPipe: Sendable {
    fileprivate struct State {
        var waiting: ArraySlice<UInt8> = []
        var end: End?
        var isStarved = false
        var writer: CheckedContinuation<Bool, Never>?
        var pump: Task<Void, Never>?
    }

    fileprivate enum End {
        case whole
        case failed(ClientError.Reason)
        case unwanted
    }

    let length: Int?
    private let state = Lock(State())

    init(length: Int?) { self.length = length }

    /// Takes over a piece and waits until it is gone.
    ///
    /// - Returns: Whether more is wanted.
    func put(_ bytes: [UInt8], resume: () -> Void) async -> Bool {
        guard !bytes.isEmpty else { return true }
        return await withCheckedContinuation { writer in
            let (isWanted, mustResume) = state.withLock { state in
                guard state.end == nil else { return (false, false) }
                state.waiting = bytes[...]
                state.writer = writer
                defer { state.isStarved = false }
                return (true, state.isStarved)
            }
            if !isWanted { writer.resume(returning: false) }
            if mustResume { resume() }
        }
    }

    func finish(failure: ClientError.Reason?, resume: () -> Void) {
        let mustResume = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = failure.map { .failed($0) } ?? .whole
            defer { state.isStarved = false }
            return state.isStarved
        }
        if mustResume { resume() }
    }

    /// Takes charge of the task that fills the pipe: it is cancelled when nobody takes anything more.
    func own(_ pump: Task<Void, Never>) {
        let isUnwanted = state.withLock { state in
            if case .unwanted = state.end { return true }
            state.pump = pump
            return false
        }
        if isUnwanted { pump.cancel() }
    }

    /// Nobody will take anything any more.
    func refuse() {
        let (writer, pump) = state.withLock { state in
            state.end = .unwanted
            state.waiting = []
            return (state.writer.take(), state.pump.take())
        }
        writer?.resume(returning: false)
        pump?.cancel()
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> Portion {
        let (portion, writer) = state.withLock { state in
            let portion = state.take(into: room)
            let isEmptied = state.waiting.isEmpty
            return (portion, isEmptied ? state.writer.take() : nil)
        }
        writer?.resume(returning: true)
        return portion
    }
}

extension RequestPipe.State {
    fileprivate mutating func take(into room: UnsafeMutableRawBufferPointer) -> Portion {
        guard waiting.isEmpty else {
            let piece = waiting.prefix(room.count)
            piece.withUnsafeBytes { room.copyMemory(from: $0) }
            waiting = waiting.dropFirst(piece.count)
            return .bytes(piece.count)
        }
        switch end {
        case .whole: return .end
        case .failed(let reason): return .failed(reason)
        case .unwanted: return .failed(.bodyUnreadable("unwanted"))
        case nil:
            isStarved = true
            return .later
        }
    }
}
