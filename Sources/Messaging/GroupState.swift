/// What a group of services decides: who is to be closed next, and when it is over.
///
/// Services are closed one after the other, the last started first, each when the one before it has
/// ended. So whoever is still at work can still reach those it relies on.
struct GroupState {
    enum Event {
        case ended(service: Int, failure: (any Error)?)
        case closeRequested
        case patienceEnded
    }

    enum Step: Equatable {
        /// Closing begins, and should not take forever.
        case startPatience
        case close(service: Int)
        case cancelAll
    }

    /// The services that have not ended yet.
    private var running: Set<Int>
    /// The service that was asked to end and has not.
    private var closing: Int?
    private var isClosing = false
    /// What went wrong first, which is what the others had to end for.
    private(set) var failure: (service: Int, reason: any Error)?

    init(count: Int) {
        running = Set(0..<count)
    }

    mutating func steps(after event: Event) -> [Step] {
        switch event {
        case .ended(let service, let reason):
            running.remove(service)
            note(reason, of: service)
            return closeNext()
        case .closeRequested:
            return closeNext()
        case .patienceEnded:
            if let closing { note(TookTooLong(), of: closing) }
            return [.cancelAll]
        }
    }

    private mutating func note(_ reason: (any Error)?, of service: Int) {
        guard failure == nil, let reason else { return }
        failure = (service, reason)
    }

    private mutating func closeNext() -> [Step] {
        guard let last = running.max() else {
            closing = nil
            return [.cancelAll]
        }
        guard last != closing else { return [] }
        closing = last
        defer { isClosing = true }
        return isClosing ? [.close(service: last)] : [.startPatience, .close(service: last)]
    }
}

/// A service had accepted more than it could finish while the group had patience.
public struct TookTooLong: Error, Equatable, CustomStringConvertible {
    public var description: String { "It was asked to end, took too long, and was cancelled." }
}
