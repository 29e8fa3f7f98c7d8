import Vault

/// What a session knows, and who waits for it to know better.
///
/// One renewal is under way at a time. Whoever needs a token meanwhile waits for it and shares what
/// came of it.
struct SessionState: Sendable {
    typealias Waiter = CheckedContinuation<Hearing, Never>

    /// What is told to somebody who waited.
    enum Hearing: Sendable {
        case token(String)
        /// There is no new one; whoever was not refused with the present one goes on with that, if it still serves.
        case setback(Setback, present: String?)
        /// The renewal was given up by who did it. Look again.
        case again
    }

    enum Need: Hashable, Sendable {
        /// Something that is not about to run out.
        case fresh
        /// Another than this one, which upstream did not take.
        case other(than: String)
    }

    enum Step: Sendable {
        case use(String)
        case wait
        case renew(Tokens)
        case signedOut
        /// The user has signed in anew since.
        case outlived
    }

    enum Renewal: Sendable {
        case renewed(Tokens)
        /// Upstream will not.
        case refused
        /// Nothing is known; the old token may still do.
        case failed(Setback)
    }

    private(set) var tokens: Tokens
    private(set) var isSignedOut = false
    /// How often the user has signed in anew.
    private(set) var signIn = 0
    private var isRenewing = false
    /// Only a renewal shows whether it goes on.
    private var isDoubted = false
    private var waiting: [Int: Waiter] = [:]
    /// Who was cancelled before having begun to wait.
    private var cancelled: Set<Int> = []

    init(tokens: Tokens) {
        self.tokens = tokens
    }

    /// - Parameter signIn: The only sign-in whose tokens will do; nil for any.
    mutating func step(_ need: Need, of signIn: Int? = nil, at now: Moment) -> Step {
        if let signIn, signIn != self.signIn { return .outlived }
        if isSignedOut { return .signedOut }
        switch need {
        case .fresh where tokens.isFresh(at: now) && !isDoubted: return .use(tokens.access)
        case .other(let used) where tokens.access != used: return .use(tokens.access)
        case .fresh, .other: break
        }
        if isRenewing { return .wait }
        isRenewing = true
        return .renew(tokens)
    }

    /// - Returns: What the waiter hears at once, if there is something.
    mutating func wait(_ waiter: Waiter, ticket: Int) -> Hearing? {
        if cancelled.remove(ticket) != nil || !isRenewing { return .again }
        waiting[ticket] = waiter
        return nil
    }

    mutating func cancel(_ ticket: Int) -> Waiter? {
        guard let waiter = waiting.removeValue(forKey: ticket) else {
            cancelled.insert(ticket)
            return nil
        }
        return waiter
    }

    /// The waiter is gone, and so is what its cancellation may have left.
    mutating func forget(_ ticket: Int) {
        cancelled.remove(ticket)
    }

    /// What becomes of tokens from before a sign-in says nothing of those that came with it.
    ///
    /// - Returns: Who waited, and what they and the one who renewed are to hear.
    mutating func end(
        _ renewal: Renewal,
        of renewed: Tokens,
        operation: String,
        at now: Moment
    ) -> (waiters: [Waiter], hearing: Hearing) {
        isRenewing = false
        defer { waiting = [:] }
        let isOutlived = renewed.access != tokens.access
        let hearing = isOutlived ? .again : hearing(of: renewal, operation, now)
        // In the order of their coming, which is another one in a dictionary.
        return (waiting.sorted { $0.key < $1.key }.map(\.value), hearing)
    }

    private mutating func hearing(
        of renewal: Renewal,
        _ operation: String,
        _ now: Moment
    ) -> Hearing {
        switch renewal {
        case .renewed(let tokens):
            self.tokens = tokens
            isDoubted = false
            return .token(tokens.access)
        case .refused:
            isSignedOut = true
            return .setback(Setback(.signedOut, operation: operation), present: nil)
        case .failed(let setback) where setback.reason == .cancelled:
            return .again
        case .failed(let setback):
            let stillServes = tokens.isValid(at: now) && !isDoubted
            return .setback(setback, present: stillServes ? tokens.access : nil)
        }
    }

    mutating func signIn(_ tokens: Tokens) {
        signIn += 1
        self.tokens = tokens
        (isSignedOut, isDoubted) = (false, false)
    }

    mutating func doubt() {
        isDoubted = true
    }

    mutating func signOut() {
        isSignedOut = true
    }
}
