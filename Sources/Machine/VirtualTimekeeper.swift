public import FoundationEssentials
public import System

/// Time that passes only when nothing else is left to do.
///
/// It stands still until somebody calls ``advance()``; a ``SeededExecutor`` does so whenever it has no
/// job left.
public final class VirtualTimekeeper: Timekeeper {
    typealias Continuation = UnsafeContinuation<Bool, Never>

    private let origin: Date
    private let sleepers = Lock(Sleepers<Continuation>())

    public init(origin: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        self.origin = origin
    }

    public var elapsed: Duration { sleepers.withLock(\.elapsed) }

    public var now: Date { origin.addingTimeInterval(elapsed / .seconds(1)) }

    public func sleep(for duration: Duration) async throws(CancellationError) {
        try await sleep(until: elapsed + max(.zero, duration))
    }

    public func sleep(until moment: Duration) async throws(CancellationError) {
        let ticket = sleepers.withLock { $0.issueTicket() }
        let hasSlept = await withTaskCancellationHandler {
            await withUnsafeContinuation { lie(down: $0, ticket: ticket, until: moment) }
        } onCancel: {
            sleepers.withLock { $0.remove(ticket) }?.resume(returning: false)
        }
        if !hasSlept { throw CancellationError() }
    }

    private func lie(down sleeper: Continuation, ticket: Int, until moment: Duration) {
        let isCancelled = sleepers.withLock {
            if Task.isCancelled { return true }
            $0.add(sleeper, ticket: ticket, until: moment)
            return false
        }
        if isCancelled { sleeper.resume(returning: false) }
    }

    /// Lets time pass until the next sleeper wakes; those who wake at the same moment wake together.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func advance() -> Bool {
        let woken = sleepers.withLock { $0.advance() }
        for sleeper in woken { sleeper.resume(returning: true) }
        return !woken.isEmpty
    }
}

/// Who sleeps until when.
struct Sleepers<Sleeper> {
    fileprivate struct Entry {
        let ticket: Int
        let sleeper: Sleeper
        let wakesAt: Duration
    }

    private(set) var elapsed = Duration.zero
    private var nextTicket = 0
    private var entries: [Entry] = []

    mutating func issueTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }

    /// A moment that has passed wakes them with those of now.
    mutating func add(_ sleeper: Sleeper, ticket: Int, until moment: Duration) {
        let wakesAt = max(elapsed, moment)
        entries.append(Entry(ticket: ticket, sleeper: sleeper, wakesAt: wakesAt))
    }

    mutating func remove(_ ticket: Int) -> Sleeper? {
        guard let index = entries.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return entries.remove(at: index).sleeper
    }

    mutating func advance() -> [Sleeper] {
        guard let moment = entries.map(\.wakesAt).min() else { return [] }
        elapsed = moment
        let woken = entries.filter { $0.wakesAt == moment }
        entries.removeAll { $0.wakesAt == moment }
        return woken.map(\.sleeper)
    }
}

extension Sleepers: Sendable where Sleeper: Sendable {}
extension Sleepers.Entry: Sendable where Sleeper: Sendable {}
