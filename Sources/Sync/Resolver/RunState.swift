internal import System
internal import Vault

/// What the workers of one run know of each other.
final class RunState: Sendable {
    private struct State {
        var next = 0
        var report = RunReport()
        /// Its failure turns out to be everybody's if others meet it too. So do those below.
        var serverErrors: [Errand] = []
        var isServerDown = false
        /// How many wait by themselves because upstream answers others.
        var loners = 0
        var refusals: [Errand] = []
        var refusal: Setback?
    }

    private let candidates: [Candidate]
    private let isOver: @Sendable () -> Bool
    private let state = Lock(State())

    init(_ candidates: [Candidate], until isOver: @escaping @Sendable () -> Bool) {
        self.candidates = candidates
        self.isOver = isOver
    }

    var report: RunReport { state.withLock(\.report) }

    var hasMore: Bool { state.withLock { hasMore($0) } }

    /// The next change to try, while there is time and nothing has ended the run.
    func next(unlessSettled enough: Int) -> Candidate? {
        guard !isOver() else { return nil }
        return state.withLock { state in
            guard hasMore(state), state.report.settled < enough else { return nil }
            defer { state.next += 1 }
            return candidates[state.next]
        }
    }

    private func hasMore(_ state: State) -> Bool {
        state.report.stop == nil && state.next < candidates.count
    }

    func settled() {
        state.withLock { state in
            state.report.tried += 1
            state.report.settled += 1
        }
    }

    func tried() { state.withLock { $0.report.tried += 1 } }

    func doubted() { state.withLock { $0.report.isInDoubt = true } }

    func stop(_ setback: Setback) {
        state.withLock { $0.report.stop = $0.report.stop ?? setback }
    }

    /// Upstream failed over this one. If it did over another, and took nothing, it fails altogether; unless it has failed
    /// over all of these before.
    ///
    /// - Returns: Who is to be acquitted.
    func suspectServer(_ errand: Errand, _ setback: Setback) -> [Errand] {
        state.withLock { state in
            if state.isServerDown { return [errand] }
            guard state.report.settled == 0 else { return [] }
            state.serverErrors.append(errand)
            guard state.serverErrors.count > 1,
                state.serverErrors.contains(where: { $0.before.failures == 0 })
            else { return [] }
            state.isServerDown = true
            state.report.stop = state.report.stop ?? setback
            return state.serverErrors
        }
    }

    /// Upstream fails altogether.
    ///
    /// - Returns: Who is to be acquitted.
    func serverFailed() -> [Errand] {
        state.withLock { state in
            defer { state.isServerDown = true }
            return state.isServerDown ? [] : state.serverErrors
        }
    }

    /// Whether one more may wait by itself. Where many fail alike it is everybody's trouble, whatever
    /// upstream answers.
    func takesLonersPlace() -> Bool {
        state.withLock { state in
            guard state.loners < Self.mostLoners else { return false }
            state.loners += 1
            return true
        }
    }

    /// Upstream forbids this one. If it forbids all, it is not about the items; unless it has forbidden all of these
    /// before.
    func suspectRefusal(_ errand: Errand, _ setback: Setback) {
        state.withLock { state in
            state.refusals.append(errand)
            state.refusal = setback
            if state.refusals.count >= Self.refusalsHeard, isAboutAll(state) {
                state.report.stop = state.report.stop ?? setback
            }
        }
    }

    /// Whom nothing is to be counted against after all, because upstream forbade everything.
    func acquitted() -> [Errand] {
        state.withLock { state in
            guard state.refusals.count > 1, isAboutAll(state) else { return [] }
            state.report.stop = state.report.stop ?? state.refusal
            return state.refusals
        }
    }

    private func isAboutAll(_ state: State) -> Bool {
        state.refusals.count == state.report.tried
            && state.refusals.contains { $0.before.lastFailure?.isRefusal != true }
    }

    private static let mostLoners = 3

    /// So many in a row, and nothing else, end a run early.
    private static let refusalsHeard = 16
}
