public import Messaging
internal import System

/// One edit, push or resolution of a cipher at a time; different ciphers side by side.
///
/// Actors alone do not give this, because they are re-entrant at every `await`. Those who wait get
/// their turn in the order in which they came.
public final class Lanes: Sendable {
    private let state = Lock(State())

    public init() {}

    /// Runs the body while nobody else has the cipher's lane.
    ///
    /// A caller that is cancelled while it waits still gets its turn, and finds out itself that
    /// nobody waits for it.
    public func hold<Value, Failure: Error>(
        _ cipherID: String,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if mutated(.noLanes) { return try await body() }
        _ = await enter(cipherID)
        defer { leaveAll(cipherID) }
        return try await body()
    }

    /// The same, unless somebody else has it for so long.
    ///
    /// - Returns: Nil if the turn has not come by then.
    public func hold<Value, Failure: Error>(
        _ cipherID: String,
        within patience: Duration,
        by alarms: AlarmClock,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        if mutated(.noLanes) { return try await body() }
        guard await enter(cipherID, patience: (wait: patience, by: alarms)) else { return nil }
        defer { leaveAll(cipherID) }
        return try await body()
    }

    private func leaveAll(_ held: String) {
        for id in state.withLock({ $0.all(with: held) }) { leave(id) }
    }

    /// Whoever has the one lane has the other, too, from now on, until the first is left: the cipher
    /// is known by another id.
    ///
    /// - Returns: Whether somebody else had the other until now.
    func join(_ other: String, to held: String) async -> Bool {
        if mutated(.noLanes) { return false }
        guard state.withLock({ $0.join(other, to: held) }) else { return false }
        let isFree = state.withLock { $0.takeFree(other) }
        if !isFree { _ = await enter(other) }
        return !isFree
    }

    /// How many wait for it.
    func line(for cipherID: String) -> Int { state.withLock { $0.line(for: cipherID) } }

    /// - Returns: Whether the lane is the caller's.
    private func enter(
        _ cipherID: String,
        patience: (wait: Duration, by: AlarmClock)? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Bool {
        if state.withLock({ $0.takeFree(cipherID) }) { return true }
        let number = state.withLock { $0.number() }
        var alarm: AlarmClock.Alarm?
        let isEntered = await withCheckedContinuation { turn in
            let isFree = state.withLock { $0.wait(for: cipherID, State.Waiter(number, turn)) }
            if isFree { return turn.resume(returning: true) }
            // Whoever gives up stands in line already.
            alarm = patience.map {
                $0.by.set(for: $0.wait) { self.giveUp(number, cipherID) }
            }
        }
        if let alarm { patience?.by.cancel(alarm) }
        return isEntered
    }

    private func leave(_ cipherID: String) {
        state.withLock { $0.pass(on: cipherID) }?.resume(returning: true)
    }

    private func giveUp(_ number: Int, _ cipherID: String) {
        state.withLock { $0.remove(number, from: cipherID) }?.resume(returning: false)
    }

    /// Who waits for which lane. One that is not here is free.
    private struct State {
        private var waiting: [String: [Waiter]] = [:]
        private var lastNumber = 0
        /// What is held along with another.
        private var joined: [String: [String]] = [:]

        struct Waiter {
            let number: Int
            /// Told whether the lane is theirs.
            let turn: CheckedContinuation<Bool, Never>

            init(_ number: Int, _ turn: CheckedContinuation<Bool, Never>) {
                (self.number, self.turn) = (number, turn)
            }
        }

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// - Returns: Whether it was not so already.
        mutating func join(_ other: String, to held: String) -> Bool {
            guard other != held, joined[held]?.contains(other) != true else { return false }
            joined[held, default: []].append(other)
            return true
        }

        func line(for cipherID: String) -> Int { waiting[cipherID]?.count ?? 0 }

        mutating func all(with held: String) -> [String] {
            [held] + (joined.removeValue(forKey: held) ?? [])
        }

        mutating func takeFree(_ cipherID: String) -> Bool {
            guard waiting[cipherID] == nil else { return false }
            waiting[cipherID] = []
            return true
        }

        /// - Returns: Whether the lane became free meanwhile, and is now the caller's.
        mutating func wait(for cipherID: String, _ waiter: Waiter) -> Bool {
            if takeFree(cipherID) { return true }
            waiting[cipherID]?.append(waiter)
            return false
        }

        /// - Returns: Nil if they have had their turn.
        mutating func remove(
            _ number: Int,
            from cipherID: String
        ) -> CheckedContinuation<Bool, Never>? {
            guard let place = waiting[cipherID]?.firstIndex(where: { $0.number == number })
            else { return nil }
            return waiting[cipherID]?.remove(at: place).turn
        }

        mutating func pass(on cipherID: String) -> CheckedContinuation<Bool, Never>? {
            guard var line = waiting[cipherID], !line.isEmpty else {
                waiting[cipherID] = nil
                return nil
            }
            let next = line.removeFirst()
            waiting[cipherID] = line
            return next.turn
        }
    }
}
