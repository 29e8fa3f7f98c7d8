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
        await enter(cipherID)
        defer { for id in state.withLock({ $0.all(with: cipherID) }) { leave(id) } }
        return try await body()
    }

    /// Whoever has the one lane has the other, too, from now on, until the first is left: the cipher
    /// is known by another id.
    ///
    /// - Returns: Whether somebody else had the other until now.
    func join(_ other: String, to held: String) async -> Bool {
        if mutated(.noLanes) { return false }
        guard state.withLock({ $0.join(other, to: held) }) else { return false }
        let isFree = state.withLock { $0.takeFree(other) }
        if !isFree { await enter(other) }
        return !isFree
    }

    /// How many wait for it.
    func line(for cipherID: String) -> Int { state.withLock { $0.line(for: cipherID) } }

    private func enter(
        _ cipherID: String,
        isolation: isolated (any Actor)? = #isolation
    ) async {
        if state.withLock({ $0.takeFree(cipherID) }) { return }
        await withCheckedContinuation { turn in
            let isFree = state.withLock { $0.wait(for: cipherID, turn) }
            if isFree { turn.resume() }
        }
    }

    private func leave(_ cipherID: String) {
        state.withLock { $0.pass(on: cipherID) }?.resume()
    }

    /// Who waits for which lane. One that is not here is free.
    private struct State {
        private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
        /// What is held along with another.
        private var joined: [String: [String]] = [:]

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
        mutating func wait(
            for cipherID: String,
            _ turn: CheckedContinuation<Void, Never>
        ) -> Bool {
            if takeFree(cipherID) { return true }
            waiting[cipherID]?.append(turn)
            return false
        }

        mutating func pass(on cipherID: String) -> CheckedContinuation<Void, Never>? {
            guard var line = waiting[cipherID], !line.isEmpty else {
                waiting[cipherID] = nil
                return nil
            }
            let next = line.removeFirst()
            waiting[cipherID] = line
            return next
        }
    }
}
