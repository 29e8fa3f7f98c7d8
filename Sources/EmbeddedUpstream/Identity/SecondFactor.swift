import Bitwarden
import Crypto
import HTTP
import JSON
import System
import Vault

enum SecondFactorVerdict {
    case passed(isRemembered: Bool)
    case wanted
}

extension World {
    /// A code is good for its interval and the ones beside it, and only once.
    mutating func checkSecondFactor(
        _ form: Form,
        _ account: Account,
        _ call: Call
    ) throws(Refusal) -> SecondFactorVerdict {
        guard let token = form["twoFactorToken"], !token.isEmpty else { return .wanted }
        let provider = form["twoFactorProvider"].flatMap { Int($0) } ?? 0
        if provider == SecondFactorProvider.remembered.rawValue {
            let device = account.devices[form["deviceIdentifier"] ?? ""]
            guard let remembered = device?.rememberToken, remembered == token else {
                return .wanted
            }
            return .passed(isRemembered: true)
        }
        let seconds = call.now.ticks / Moment.ticksPerSecond
        guard
            provider == SecondFactorProvider.authenticator.rawValue,
            let interval = Self.interval(of: token, account.authenticatorKey ?? "", seconds),
            interval > account.usedInterval
        else { throw .wrongCode(secondsSince1970: seconds) }
        accounts[account.id]?.usedInterval = interval
        changes.insert(.account(account.id))
        return .passed(isRemembered: form["twoFactorRemember"] == "1")
    }

    fileprivate static func interval(of code: String, _ key: String, _ seconds: Int64) -> Int64? {
        guard let password = try? OneTimePassword(key) else { return nil }
        return [0, -1, 1].map { seconds / 30 + $0 }.first { interval in
            (try? password.code(atSeconds: interval * 30)) == code
        }
    }

    func checkPassword(_ call: Call) throws(Refusal) {
        let proof: PasswordProof = try call.read()
        guard accounts[call.userID]?.passwordHash == proof.masterPasswordHash else {
            throw .wrongPassword
        }
    }
}

extension Routes {
    mutating func addSecondFactor() {
        on(.get, "/api/two-factor", .secondFactor) { call, world throws(Refusal) in
            let isOn = world.accounts[call.userID]?.authenticatorKey != nil
            return .list { list in
                guard isOn else { return }
                list.object {
                    $0.add("enabled", true)
                    $0.add("type", 0)
                    $0.add("object", "twoFactorProvider")
                }
            }
        }
        on(.post, "/api/two-factor/get-authenticator", .secondFactor) {
            call,
            world throws(Refusal) in
            try world.checkPassword(call)
            let key = world.accounts[call.userID]?.authenticatorKey
            return .authenticator(key ?? Self.newKey(call), isOn: key != nil)
        }
        for method in [Method.put, .post] {
            on(method, "/api/two-factor/authenticator", .secondFactor) {
                call,
                world throws(Refusal) in
                try world.checkPassword(call)
                let wish: AuthenticatorRequest = try call.read()
                let seconds = call.now.ticks / Moment.ticksPerSecond
                guard let interval = World.interval(of: wish.token, wish.key, seconds) else {
                    throw .wrongCode(secondsSince1970: seconds)
                }
                world.accounts[call.userID]?.authenticatorKey = wish.key.uppercased()
                world.accounts[call.userID]?.usedInterval = interval
                world.touch(call.userID, call)
                return .authenticator(wish.key.uppercased(), isOn: true)
            }
            on(method, "/api/two-factor/disable", .secondFactor) { call, world throws(Refusal) in
                try world.checkPassword(call)
                world.accounts[call.userID]?.authenticatorKey = nil
                world.touch(call.userID, call)
                return Reply(
                    json: .object {
                        $0.add("enabled", false)
                        $0.add("type", 0)
                        $0.add("object", "twoFactorProvider")
                    }
                )
            }
        }
        open(.post, "/api/two-factor/send-email-login", .secondFactor) {
            call,
            world throws(Refusal) in Reply()
        }
    }

    private static func newKey(_ call: Call) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        return String((0..<32).map { _ in alphabet[call.chance.number(in: 0..<32)] })
    }
}

private struct AuthenticatorRequest: JSON.Readable {
    let key: String
    let token: String

    init(json: JSON.Value) throws(JSON.Mismatch) {
        key = try json.read(anyCase: "key")
        let token = json[anyCase: "token"]
        guard let text = token?.string ?? token?.int.map({ String($0) }) else {
            throw JSON.Mismatch("must be a string", at: ["token"])
        }
        self.token = text
    }
}

extension Reply {
    fileprivate static func authenticator(_ key: String, isOn: Bool) -> Reply {
        Reply(
            json: .object {
                $0.add("enabled", isOn)
                $0.add("key", key)
                $0.add("object", "twoFactorAuthenticator")
            }
        )
    }
}
