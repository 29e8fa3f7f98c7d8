import Bitwarden
import Crypto
import HTTP
import JSON
import System

extension Routes {
    mutating func addRegistration() {
        let preloginPaths = [
            "/identity/accounts/prelogin", "/identity/accounts/prelogin/password",
            "/api/accounts/prelogin",
        ]
        for path in preloginPaths {
            open(.post, path, .prelogin) { call, world throws(Refusal) in
                let wish: PreloginRequest = try call.read()
                return Reply(world.prelogin(wish.email))
            }
        }
        let registrationPaths =
            ["/identity/accounts/register/finish"]
            + (personality.registersDirectly
                ? ["/identity/accounts/register", "/api/accounts/register"] : [])
        for path in registrationPaths {
            open(.post, path, .register) { call, world throws(Refusal) in
                try world.register(try call.read(), call)
                return Reply(
                    json: .object {
                        $0.add("object", "register")
                        $0.add("captchaBypassToken", "")
                    }
                )
            }
        }
        open(.post, "/identity/accounts/register/send-verification-email", .register) {
            call,
            world throws(Refusal) in
            let wish: PreloginRequest = try call.read()
            guard world.idsByEmail[Account.plain(wish.email)] == nil else {
                throw .registrationRefused
            }
            // No mail leaves this server, so the token is told at once.
            return Reply(json: JSON.Raw(call.newSecret(count: 40)))
        }
    }
}

extension World {
    fileprivate func prelogin(_ email: String) -> PreloginAnswer {
        let email = Account.plain(email)
        guard let id = idsByEmail[email], let account = accounts[id] else {
            let choice = Int(email.utf8.shortDigest % UInt64(Self.invented.count))
            let settings = personality.inventsSettings ? Self.invented[choice] : .usual
            return PreloginAnswer(settings: settings)
        }
        let salt = personality.inventsSettings ? account.email : nil
        return PreloginAnswer(settings: account.settings, salt: salt)
    }

    /// What an unknown address may be told, the same every time.
    private static let invented = [
        DerivationSettings.usual, DerivationSettings(kind: 0, iterations: 100_000),
        DerivationSettings(kind: 0, iterations: 5_000),
        DerivationSettings(kind: 1, iterations: 3, memory: 64, parallelism: 4),
        DerivationSettings(kind: 1, iterations: 6, memory: 32, parallelism: 4),
    ]

    fileprivate mutating func register(
        _ registration: Registration,
        _ call: Call
    ) throws(Refusal) {
        let email = Account.plain(registration.email)
        guard idsByEmail[email] == nil else { throw .registrationRefused }
        do throws(CryptoError) {
            _ = try KeyDerivation(
                kdf: registration.settings.kind,
                iterations: registration.settings.iterations,
                memory: registration.settings.memory,
                parallelism: registration.settings.parallelism
            )
        } catch {
            throw .badShape(error.description)
        }
        let account = Account(
            registration,
            id: call.newID(),
            stamp: call.newID(),
            apiKey: call.newSecret(count: 30),
            at: stamp(call)
        )
        accounts[account.id] = account
        idsByEmail[email] = account.id
        changes.insert(.account(account.id))
    }
}
