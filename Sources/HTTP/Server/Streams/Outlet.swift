import System

/// Where the body of an answer goes out: a writing task on one side, the connection on the other.
final class Outlet: Sendable {
    private typealias Writer = CheckedContinuation<Void, Never>

    private let state: Lock<OutletState<Writer>>
    private let rouse: @Sendable () -> Void

    init(capacity: Int, rouse: @escaping @Sendable () -> Void) {
        self.rouse = rouse
        state = Lock(OutletState(capacity: capacity))
    }

    /// Hands the bytes over, and returns once there is room for more.
    func write(_ piece: [UInt8]) async throws(ClientLeft) {
        perform(state.withLock { $0.push(piece) })
        var room = state.withLock(\.room)
        while room == .none, !Task.isCancelled {
            await rest()
            room = state.withLock(\.room)
        }
        guard room == .some else { throw ClientLeft() }
    }

    private func rest() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { writer in
                perform(state.withLock { $0.rest(Task.isCancelled, writer) })
            }
        } onCancel: {
            perform(state.withLock { $0.release() })
        }
    }

    /// Moves what there is to the connection.
    func move(into buffer: UnsafeMutableRawBufferPointer) -> OutletYield {
        let space = LentSpace(bytes: buffer)
        let (yield, action) = state.withLock { $0.move(into: space.bytes) }
        perform(action)
        return yield
    }

    func end(_ ending: OutletEnding) {
        perform(state.withLock { $0.end(ending) })
    }

    private func perform(_ action: OutletState<Writer>.Action) {
        switch action {
        case .nothing: break
        case .rouse: rouse()
        case .resume(let writers): for writer in writers { writer.resume() }
        }
    }
}

enum OutletEnding {
    /// The producer has written all there is.
    case complete
    /// The producer gave up.
    case broken
    /// The client has all that it was promised.
    case delivered
    /// Nobody is there to read.
    case clientLeft
}

enum OutletRoom {
    case some
    case none
    case never
}

enum OutletYield: Equatable {
    case bytes(Int)
    case nothingYet
    case complete
    case broken
}

/// What an outlet holds and who waits at it.
struct OutletState<Writer> {
    enum Action {
        case nothing
        case rouse
        case resume([Writer])
    }

    private let capacity: Int
    private var pieces = Pieces()
    private var ending: OutletEnding?
    private var writers: [Writer] = []
    private var isConnectionResting = false

    init(capacity: Int) { self.capacity = capacity }

    var room: OutletRoom {
        if case .delivered = ending { return .some }
        if ending != nil { return .never }
        return pieces.count < capacity ? .some : .none
    }

    mutating func push(_ piece: [UInt8]) -> Action {
        guard ending == nil else { return .nothing }
        pieces.append(piece)
        return rouseIfResting()
    }

    mutating func rest(_ isCancelled: Bool, _ writer: Writer) -> Action {
        if isCancelled || room != .none { return .resume([writer]) }
        writers.append(writer)
        return .nothing
    }

    mutating func release() -> Action {
        defer { writers = [] }
        return writers.isEmpty ? .nothing : .resume(writers)
    }

    mutating func move(into buffer: UnsafeMutableRawBufferPointer) -> (OutletYield, Action) {
        if case .clientLeft = ending { return (.broken, .nothing) }
        let count = pieces.move(into: buffer)
        if count > 0 { return (.bytes(count), pieces.count <= capacity / 2 ? release() : .nothing) }
        switch ending {
        case .complete: return (.complete, .nothing)
        case .broken, .clientLeft, .delivered: return (.broken, .nothing)
        case nil:
            isConnectionResting = true
            return (.nothingYet, .nothing)
        }
    }

    /// The first ending counts, except that a client may leave, or be through, at any time.
    mutating func end(_ ending: OutletEnding) -> Action {
        switch ending {
        case .clientLeft, .delivered:
            self.ending = ending
            pieces.removeAll()
            return release()
        case .complete, .broken: break
        }
        guard self.ending == nil else { return .nothing }
        self.ending = ending
        return rouseIfResting()
    }

    private mutating func rouseIfResting() -> Action {
        guard isConnectionResting else { return .nothing }
        isConnectionResting = false
        return .rouse
    }
}

/// Memory that is filled while a call lasts.
// @unchecked because it is handed down that call only, and never kept.
private struct LentSpace: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
}
