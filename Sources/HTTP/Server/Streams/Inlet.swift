import System

/// Where the body of a request comes in: bytes from the connection on one side, a reading task on
/// the other.
///
/// The connection is never made to hold what does not fit: it is told that the inlet is full, rests,
/// and is roused when the reader has caught up.
final class Inlet: Sendable {
    private typealias Reader = CheckedContinuation<InletAnswer, Never>

    let declaredLength: Int?
    private let state: Lock<InletState<Reader>>
    private let rouse: @Sendable () -> Void

    init(
        declaredLength: Int?,
        capacity: Int,
        limit: Int,
        rouse: @escaping @Sendable () -> Void
    ) {
        self.declaredLength = declaredLength
        self.rouse = rouse
        state = Lock(InletState(capacity: capacity, limit: limit))
    }

    /// Whether somebody has begun to read.
    var isWanted: Bool { state.withLock(\.isWanted) }

    /// Takes what arrived, and returns whether the connection may bring more.
    func push(_ piece: [UInt8]) -> InletRoom {
        let (room, action) = state.withLock { $0.push(piece) }
        perform(action)
        return room
    }

    func end(_ ending: InletEnding) {
        perform(state.withLock { $0.end(ending) })
    }

    func next() async throws(BodyError) -> [UInt8]? {
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                perform(state.withLock { $0.next(Task.isCancelled, continuation) })
            }
        } onCancel: {
            perform(state.withLock { $0.cancel() })
        }
        return try answer.get()
    }

    private func perform(_ action: InletState<Reader>.Action) {
        switch action {
        case .nothing: break
        case .rouse: rouse()
        case .answer(let reader, let answer): reader.resume(returning: answer)
        case .answerAndRouse(let reader, let answer):
            reader.resume(returning: answer)
            rouse()
        }
    }
}

/// A piece, or `nil` at the end.
typealias InletAnswer = Result<[UInt8]?, BodyError>

enum InletEnding: Equatable {
    case complete
    case failed(BodyError)
}

enum InletRoom: Equatable {
    case plenty
    /// The connection is to rest until it is roused.
    case full
    /// The body has grown beyond its limit.
    case exceeded
}

/// What an inlet holds and who waits at it.
struct InletState<Reader> {
    enum Action {
        case nothing
        case rouse
        case answer(Reader, InletAnswer)
        case answerAndRouse(Reader, InletAnswer)
    }

    private let capacity: Int
    private let limit: Int
    private var pieces = Pieces()
    private var received = 0
    private var ending: InletEnding?
    private var reader: Reader?
    private var isConnectionResting = false
    private(set) var isWanted = false

    init(capacity: Int, limit: Int) {
        self.capacity = capacity
        self.limit = limit
    }

    mutating func push(_ piece: [UInt8]) -> (InletRoom, Action) {
        if ending != nil { return (.plenty, .nothing) }
        received += piece.count
        guard received <= limit else { return (.exceeded, end(.failed(.tooLarge(limit: limit)))) }
        if let reader = reader.take() { return (.plenty, .answer(reader, .success(piece))) }
        pieces.append(piece)
        isConnectionResting = pieces.count >= capacity
        return (isConnectionResting ? .full : .plenty, .nothing)
    }

    /// The first ending counts. What was received is still read before a complete end, and dropped
    /// before a failure.
    mutating func end(_ ending: InletEnding) -> Action {
        guard self.ending == nil else { return .nothing }
        self.ending = ending
        isConnectionResting = false
        if case .failed = ending { pieces.removeAll() }
        guard let reader = reader.take() else { return .nothing }
        return .answer(reader, lastAnswer(ending))
    }

    mutating func next(_ isCancelled: Bool, _ reader: Reader) -> Action {
        let isFirst = !isWanted
        isWanted = true
        if let piece = pieces.takePiece() {
            return isResting(afterTaking: isFirst)
                ? .answerAndRouse(reader, .success(piece)) : .answer(reader, .success(piece))
        }
        if let ending { return .answer(reader, lastAnswer(ending)) }
        if isCancelled || self.reader != nil { return .answer(reader, .failure(.cancelled)) }
        self.reader = reader
        return isFirst ? .rouse : .nothing
    }

    mutating func cancel() -> Action {
        guard let reader = reader.take() else { return .nothing }
        return .answer(reader, .failure(.cancelled))
    }

    /// Whether the connection waits for what has just happened.
    private mutating func isResting(afterTaking isFirst: Bool) -> Bool {
        guard isConnectionResting, pieces.count < capacity / 2 else { return isFirst }
        isConnectionResting = false
        return true
    }

    private func lastAnswer(_ ending: InletEnding) -> InletAnswer {
        switch ending {
        case .complete: .success(nil)
        case .failed(let error): .failure(error)
        }
    }
}
