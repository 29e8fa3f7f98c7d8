public import Bitwarden
import HTTP
import JSON
public import Vault

/// What came of an attempt to sign in.
public enum SignIn: Sendable {
    case signedIn(SignedIn)
    /// The password is right; the same again with one of these.
    case needsSecondFactor(SecondFactorChallenge)
    /// The password is right; the same again with the code that was mailed just now.
    case needsNewDeviceCode(Rejection)
    /// Upstream does not let them in, and says why.
    case refused(Rejection)
}

/// An account that has signed in.
public struct SignedIn: Sendable {
    public let tokens: Tokens
    /// What opens the vault together with the master password.
    public let login: TokenAnswer.Login?
    /// Stands for the second factor next time, if that was asked for.
    public let secondFactorToken: String?
}

extension Upstream {
    /// Signs in with the hash of the master password, and whatever was asked for beyond it.
    public func signIn(
        _ grant: PasswordGrant,
        _ manner: Manner = Manner()
    ) async throws(Setback) -> SignIn {
        let request = TokenRequest(.password(grant), device: identity.device)
        return try await signIn(request, for: grant.email, renewal: .none, manner)
    }

    /// Signs in with the account's API key, which no second factor guards.
    public func signIn(
        clientID: String,
        secret: String,
        _ manner: Manner = Manner()
    ) async throws(Setback) -> SignIn {
        let device = identity.device
        let request = TokenRequest(.apiKey(clientID: clientID, secret: secret), device: device)
        let renewal = Tokens.Renewal.apiKey(clientID: clientID, secret: secret, device: device)
        return try await signIn(request, for: clientID, renewal: renewal, manner)
    }

    /// The account's right to ask, from tokens that were got before.
    ///
    /// - Parameter keep: Puts renewed tokens where the next start finds them.
    public func session(
        _ tokens: Tokens,
        keep: @escaping @Sendable (Tokens) async -> Void
    ) -> Session {
        Session(tokens: tokens, timekeeper: world.timekeeper, keep: keep) {
            [self] tokens async throws(Setback) in try await renew(tokens)
        }
    }

    private func signIn(
        _ request: TokenRequest,
        for account: String,
        renewal: Tokens.Renewal,
        _ manner: Manner
    ) async throws(Setback) -> SignIn {
        let outcome: TokenOutcome
        do throws(Setback) {
            outcome = try await token(request, for: account, manner)
        } catch {
            // Sessions are renewed by the same call.
            throw Setback(error.reason, operation: "sign in")
        }
        switch outcome {
        case .granted(let answer, let received):
            let tokens = Tokens(answer, renewal: renewal, received: received)
            guard let tokens else { throw Self.tokenCall.malformed("a token that is none") }
            return .signedIn(
                SignedIn(
                    tokens: tokens,
                    login: answer.login,
                    secondFactorToken: answer.secondFactorToken
                )
            )
        case .refused(.secondFactor(let challenge), _): return .needsSecondFactor(challenge)
        case .refused(.newDevice, let words): return .needsNewDeviceCode(words)
        case .refused(_, let words): return .refused(words)
        }
    }

    /// - Returns: ``SessionState/Renewal/refused`` only if upstream itself, in its own words, does not
    ///   take the grant any more.
    private func renew(_ tokens: Tokens) async throws(Setback) -> SessionState.Renewal {
        let request: TokenRequest
        switch tokens.renewal {
        case .none: return .refused
        case .refresh(let token, let clientID):
            request = TokenRequest(.refresh(token: token, clientID: clientID), device: nil)
        case .apiKey(let clientID, let secret, let device):
            request = TokenRequest(.apiKey(clientID: clientID, secret: secret), device: device)
        }
        switch try await token(request, for: tokens.userID, Manner()) {
        case .refused(let refusal, let words):
            switch words.status {
            case 401, 403: return .refused
            case 400 where refusal?.isOurs == false: return .refused
            // Not all servers have a code for a key that is not valid any more.
            case 400 where tokens.renewal.isByKey && refusal != nil && !words.isOfStore:
                return .refused
            // Not a word about the grant, from upstream or from somebody on the way. It may be a mistake of ours, and
            // is no reason to end anything; nor is it about what waits.
            case let status:
                let reason = Setback.Reason.unavailable(status: status)
                throw Setback(reason, operation: Self.tokenCall.operation.words)
            }
        case .granted(let answer, let received):
            let renewed = Tokens(answer, renewal: tokens.renewal, received: received)
            guard let renewed, renewed.userID == tokens.userID else {
                throw Self.tokenCall.malformed("a token that is not this account's")
            }
            return .renewed(renewed)
        }
    }

    fileprivate enum TokenOutcome {
        case granted(TokenAnswer, received: Moment)
        /// In words, if there were any.
        case refused(TokenRefusal?, Rejection)
    }

    private static let tokenCall = Call(
        .token,
        .post,
        "/connect/token",
        at: .identity,
        isSigned: false
    )

    private func token(
        _ request: TokenRequest,
        for account: String,
        _ manner: Manner
    ) async throws(Setback) -> TokenOutcome {
        var call = Self.tokenCall
        call.body = .bytes(request.form.bytes)
        call.headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
        if let email = request.authEmail { call.headers["Auth-Email"] = email }
        let received = world.now
        do throws(Setback) {
            let answer = try await perform(call, for: account, manner)
            return .granted(try answer.read(of: call), received: received)
        } catch {
            guard let refusal = error.tokenRefusal else { throw error }
            return refusal
        }
    }
}

extension Setback {
    /// The refusal, if it is upstream's.
    fileprivate var tokenRefusal: Upstream.TokenOutcome? {
        guard case .rejected(let rejection) = reason else { return nil }
        let document = try? JSON.Document(rejection.body)
        return .refused(document.map { TokenRefusal(json: $0.root) }, rejection)
    }
}

extension TokenRefusal {
    /// Whether it is about the request and not about the grant in it.
    fileprivate var isOurs: Bool {
        switch self {
        case .other(let code, _): code != "invalid_client"
        case .secondFactor, .newDevice, .invalidGrant: false
        }
    }
}

extension Tokens.Renewal {
    fileprivate var isByKey: Bool {
        switch self {
        case .apiKey: true
        case .refresh, .none: false
        }
    }
}
