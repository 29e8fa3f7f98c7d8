internal import System

/// Work that is done once however many ask for it at the same time.
final class JointWork: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Void, StoreError>?, Never>

    /// Who waits for the work that is under way; nil while there is none.
    private let waiters = Lock<[Waiter]?>(nil)

    /// Does the work or, while somebody else does it, waits and hears what became of that.
    ///
    /// - Returns: Whether the work was begun for this caller, and so after it had asked.
    @discardableResult
    func join(_ work: () async throws(StoreError) -> Void) async throws(StoreError) -> Bool {
        while !begins() {
            // It may have ended before the wait began.
            if let outcome = await withCheckedContinuation({ wait($0) }) {
                try outcome.get()
                return false
            }
        }
        let outcome: Result<Void, StoreError>
        do throws(StoreError) {
            outcome = .success(try await work())
        } catch {
            outcome = .failure(error)
        }
        for waiter in end() { waiter.resume(returning: outcome) }
        try outcome.get()
        return true
    }

    private func begins() -> Bool {
        waiters.withLock { waiters in
            defer { waiters = waiters ?? [] }
            return waiters == nil
        }
    }

    private func wait(_ waiter: Waiter) {
        let isOver = waiters.withLock { waiters in
            waiters?.append(waiter)
            return waiters == nil
        }
        if isOver { waiter.resume(returning: nil) }
    }

    private func end() -> [Waiter] {
        waiters.withLock { waiters in
            defer { waiters = nil }
            return waiters ?? []
        }
    }
}
