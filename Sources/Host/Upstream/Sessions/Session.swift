import Messaging
import System
import Vault

/// An account's right to talk to upstream, renewed when it runs out.
///
/// Only upstream's own refusal to renew ends it. An outage, a portal or a request to come later never
/// does, and nothing that is kept here is lost by it.
public final class Session: Sendable {
    /// How a new token is got; throws what stood in the way.
    typealias Renew = @Sendable (Tokens) async throws(Setback) -> SessionState.Renewal

    public let userID: String
    private let state: Lock<SessionState>
    private let tickets = Lock(0)
    /// Closed by the next sign-in.
    private let doors = Lock<[Mailbox<Never>]>([])
    private let renewal: Renew
    private let timekeeper: any Timekeeper
    private let keep: @Sendable (Tokens) async -> Void

    /// - Parameter keep: Puts new tokens where the next start finds them.
    init(
        tokens: Tokens,
        timekeeper: any Timekeeper,
        keep: @escaping @Sendable (Tokens) async -> Void,
        renew: @escaping Renew
    ) {
        userID = tokens.userID
        state = Lock(SessionState(tokens: tokens))
        self.timekeeper = timekeeper
        self.keep = keep
        renewal = renew
    }

    public var tokens: Tokens { state.withLock { $0.tokens } }
    public var isSignedOut: Bool { state.withLock(\.isSignedOut) }
    /// The number of the latest sign-in.
    var signIn: Int { state.withLock(\.signIn) }

    /// The user has signed in again. The tokens must be the same account's.
    public func signIn(_ tokens: Tokens) {
        precondition(tokens.userID == userID, "A session belongs to one account.")
        state.withLock { $0.signIn(tokens) }
        let closed = doors.withLock { doors in
            defer { doors = [] }
            return doors
        }
        for door in closed { door.close() }
    }

    /// Returns when upstream has let the user in again, at once if nobody is signed out, or when the task is cancelled.
    func signedInAgain() async {
        let door = Mailbox<Never>(name: "sign-in", capacity: 1)
        doors.withLock { $0.append(door) }
        defer { doors.withLock { $0.removeAll { $0 === door } } }
        // A sign-in that came before the door was there has not closed it.
        guard isSignedOut else { return }
        for await _ in door {}
    }

    /// Upstream is said to have ended it: the present token will not do any more.
    public func doubt() { state.withLock { $0.doubt() } }

    /// Nothing more is asked in this account's name.
    public func signOut() { state.withLock { $0.signOut() } }

    /// The same, unless somebody has signed in anew since.
    ///
    /// - Returns: Whether nobody has.
    func signOut(of signIn: Int) -> Bool {
        state.withLock { state in
            guard state.signIn == signIn else { return false }
            state.signOut()
            return true
        }
    }

    /// - Parameter signIn: The only sign-in whose tokens will do; nil for any.
    func token(
        _ need: SessionState.Need = .fresh,
        of signIn: Int? = nil
    ) async throws(Setback) -> String {
        while true {
            if Task.isCancelled { throw Setback(.cancelled, operation: Operation.token.words) }
            let now = Moment(timekeeper.now)
            let hearing: SessionState.Hearing
            switch state.withLock({ $0.step(need, of: signIn, at: now) }) {
            case .use(let token): return token
            case .outlived: throw Setback(.cancelled, operation: Operation.token.words)
            case .signedOut: throw Setback(.signedOut, operation: Operation.token.words)
            case .wait: hearing = await wait()
            case .renew(let tokens): hearing = await renew(tokens)
            }
            switch hearing {
            case .token(let token): return token
            case .setback(_, let present?) where need == .fresh: return present
            case .setback(let setback, _): throw setback
            case .again: continue
            }
        }
    }

    private func wait() async -> SessionState.Hearing {
        let ticket = tickets.withLock { tickets in
            tickets += 1
            return tickets
        }
        defer { state.withLock { $0.forget(ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let hearing = state.withLock { $0.wait(waiter, ticket: ticket) }
                if let hearing { waiter.resume(returning: hearing) }
            }
        } onCancel: {
            state.withLock { $0.cancel(ticket) }?.resume(returning: .again)
        }
    }

    private func renew(_ tokens: Tokens) async -> SessionState.Hearing {
        let outcome: SessionState.Renewal
        do throws(Setback) {
            outcome = try await renewal(tokens)
        } catch {
            outcome = .failed(error)
        }
        // Kept before anybody uses it: the old one may be worth nothing from now on.
        if case .renewed(let fresh) = outcome, self.tokens.access == tokens.access {
            await keep(fresh)
        }
        let now = Moment(timekeeper.now)
        let (waiters, hearing) = state.withLock {
            $0.end(outcome, of: tokens, operation: Operation.token.words, at: now)
        }
        for waiter in waiters { waiter.resume(returning: hearing) }
        return hearing
    }
}
