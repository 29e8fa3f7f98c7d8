public import Bitwarden
import HTTP
import JSON
public import Vault

// What is asked in nobody's name.

extension Upstream {
    /// What the server says of itself: its version, its switches, where its parts are.
    public func configuration(
        _ manner: Manner = Manner()
    ) async throws(Setback) -> ServerConfiguration {
        let call = Call(.config, .get, "/config", isSigned: false)
        return try await perform(call, for: "", manner).read(of: call)
    }

    /// Whether the server is there; the smallest question there is.
    public func probe(_ manner: Manner = Manner()) async throws(Setback) {
        let call = Call(.alive, .get, "/alive", isSigned: false)
        let answer = try await perform(call, for: "", manner)
        // The date and nothing else: a portal that answers with JSON of its own is found out by it.
        let text: String = try answer.read(of: call)
        guard Revision(text) != nil else { throw call.malformed("no date") }
    }

    /// How the account's master key is derived. Servers answer for accounts that do not exist, too.
    ///
    /// Older servers know the second of the two paths only.
    public func prelogin(
        email: String,
        _ manner: Manner = Manner()
    ) async throws(Setback) -> PreloginAnswer {
        do throws(Setback) {
            return try await prelogin(email, "/accounts/prelogin/password", manner)
        } catch  where error.isUnknownPath {
            return try await prelogin(email, "/accounts/prelogin", manner)
        }
    }

    private func prelogin(
        _ email: String,
        _ path: String,
        _ manner: Manner
    ) async throws(Setback) -> PreloginAnswer {
        let call = Call(.prelogin, .post, path, at: .identity, isSigned: false)
            .sending(PreloginRequest(email: email))
        return try await perform(call, for: email, manner).read(of: call)
    }

    /// Has the code of the second factor mailed to the account's address.
    public func sendTwoFactorCode(
        email: String,
        masterPasswordHash: String,
        _ manner: Manner = Manner()
    ) async throws(Setback) {
        var call = Call(
            .sendTwoFactorCode,
            .post,
            "/two-factor/send-email-login",
            expecting: .nothing,
            isSigned: false
        )
        let body = JSON.Raw.object {
            $0.add("email", email)
            $0.add("masterPasswordHash", masterPasswordHash)
            $0.add("deviceIdentifier", identity.device.identifier)
        }
        call = call.sending(body)
        _ = try await perform(call, for: email, manner)
    }
}

extension Setback {
    /// Whether the server seems not to know the path at all.
    var isUnknownPath: Bool {
        switch reason {
        case .rejected(let words): [404, 405].contains(words.status)
        case .foreign(.page(404)), .foreign(.answer(404)): true
        default: false
        }
    }
}
