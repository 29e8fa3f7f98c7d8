import HTTP
import Vault

/// An upstream as one account's user sees it.
///
/// Token, user and encryption key belong together: whatever is asked through this goes out with the
/// session's own token and with no other. A copy is cheap; ``asking(_:)`` makes one that asks in
/// another manner.
public struct UpstreamAccount: Sendable {
    public let upstream: Upstream
    public let session: Session
    public var manner = Manner()
    /// The only sign-in whose tokens are used; nil if any will do.
    private var signIn: Int?

    public init(_ upstream: Upstream, _ session: Session) {
        self.upstream = upstream
        self.session = session
    }

    /// The same, asking in another manner.
    public func asking(_ change: (inout Manner) -> Void) -> UpstreamAccount {
        var other = self
        change(&other.manner)
        return other
    }

    /// The same until the user signs in anew; then it is cancelled.
    public var ofThisSession: UpstreamAccount {
        var other = self
        other.signIn = session.signIn
        return other
    }

    /// Sends the call with the session's token; with a new one once more, if it is not taken.
    ///
    /// That is safe for writes: whoever does not take the token has not done anything.
    func send(_ call: Call) async throws(Setback) -> NetworkAnswer {
        let token = try await token(.fresh, for: call)
        do throws(Setback) {
            return try await send(call, with: token)
        } catch  where error.reason == .unauthorised && call.isRepeatable {
            return try await send(call, with: try await self.token(.other(than: token), for: call))
        }
    }

    private func send(
        _ call: Call,
        with token: String
    ) async throws(Setback) -> NetworkAnswer {
        try await upstream.perform(call, for: session.userID, manner, token: token)
    }

    /// What keeps a token from being had keeps the call from being made.
    private func token(
        _ need: SessionState.Need,
        for call: Call
    ) async throws(Setback) -> String {
        do throws(Setback) {
            return try await session.token(need, of: signIn)
        } catch {
            throw Setback(error.reason, operation: call.operation.words)
        }
    }
}

extension Call {
    /// Whether the same bytes can be sent again; a stream is gone.
    fileprivate var isRepeatable: Bool {
        if case .stream = body { return false }
        return true
    }
}
