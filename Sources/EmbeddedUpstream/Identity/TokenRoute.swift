import Bitwarden
import Crypto
import HTTP
import JSON
import Vault

extension Routes {
    mutating func addTokens() {
        open(.post, "/identity/connect/token", .token) { call, world throws(Refusal) in
            guard let form = Form(call.body) else { throw .badJSON }
            let needsVersion = world.personality.wantsVersionHeader
            if needsVersion, ClientVersion(call.headers["Bitwarden-Client-Version"]) == nil {
                throw .noVersionHeader
            }
            switch form["grant_type"] {
            case "password": return try world.logIn(form, call)
            case "client_credentials": return try world.logInWithKey(form, call)
            case "refresh_token": return try world.renew(form, call)
            default: throw .badGrant
            }
        }
    }
}

extension World {
    /// One grant after the other is looked at: what is missing, who it is, then the second factor.
    fileprivate mutating func logIn(_ form: Form, _ call: Call) throws(Refusal) -> Reply {
        for name in ["client_id", "password", "scope", "username"] {
            guard form[name]?.isEmpty == false else { throw .blankField(name) }
        }
        try checkDevice(form)
        let scope = form["scope"] ?? ""
        guard scope == "api offline_access" else { throw .badScope(scope) }
        let email = Account.plain(form["username"] ?? "")
        guard
            let id = idsByEmail[email], let account = accounts[id],
            account.passwordHash == form["password"]
        else { throw .wrongCredentials }
        var remembered: String?
        if account.authenticatorKey != nil {
            switch try checkSecondFactor(form, account, call) {
            case .passed(let isRemembered):
                remembered = isRemembered ? call.newSecret(count: 64) : nil
            case .wanted:
                return Reply(SecondFactorChallenge(providers: [.authenticator]), .badRequest)
            }
        } else {
            try checkNewDevice(form, account, call)
        }
        let device = enrol(form, account, remembered, call)
        return tokens(account, device, scope: scope, call, hasRefresh: true)
    }

    private func checkDevice(_ form: Form) throws(Refusal) {
        for name in ["device_identifier", "device_name", "device_type"] {
            guard form[name]?.isEmpty == false else { throw .blankField(name) }
        }
    }

    /// A code is mailed to whoever comes with a device that the account does not know, unless it has
    /// none yet or is younger than a day.
    private mutating func checkNewDevice(
        _ form: Form,
        _ account: Account,
        _ call: Call
    ) throws(Refusal) {
        guard personality.mailsNewDevices, !account.devices.isEmpty else { return }
        guard account.devices[form["deviceIdentifier"] ?? ""] == nil else { return }
        let day = account.created.advanced(bySeconds: 86_400)
        guard call.now > day else { return }
        if let code = account.mailedCode, form["newDeviceOtp"] == code {
            accounts[account.id]?.mailedCode = nil
            return
        }
        accounts[account.id]?.mailedCode = account.mailedCode ?? call.newSecret(count: 8)
        throw .newDevice
    }

    private mutating func enrol(
        _ form: Form,
        _ account: Account,
        _ remembered: String?,
        _ call: Call
    ) -> StoredDevice {
        let identifier = form["deviceIdentifier"] ?? ""
        let old = account.devices[identifier]
        let device = StoredDevice(
            identifier: identifier,
            type: old?.type ?? form["deviceType"].flatMap { Int($0) } ?? 14,
            name: old?.name ?? form["deviceName"] ?? "",
            created: old?.created ?? stamp(call),
            refreshToken: old?.refreshToken ?? call.newSecret(count: 64),
            clientID: form["client_id"] ?? "",
            rememberToken: remembered ?? old?.rememberToken
        )
        accounts[account.id]?.devices[identifier] = device
        renewals[device.refreshToken] = Renewal(userID: account.id, deviceID: identifier)
        changes.insert(.account(account.id))
        return device
    }

    fileprivate mutating func logInWithKey(_ form: Form, _ call: Call) throws(Refusal) -> Reply {
        for name in ["client_id", "client_secret", "scope"] {
            guard form[name]?.isEmpty == false else { throw .blankField(name) }
        }
        try checkDevice(form)
        let scope = form["scope"] ?? ""
        guard scope == "api" else { throw .badScope(scope) }
        let clientID = form["client_id"] ?? ""
        guard
            clientID.hasPrefix("user."), let account = accounts[String(clientID.dropFirst(5))],
            account.apiKey == form["client_secret"]
        else { throw .wrongAPIKey }
        let device = enrol(form, account, nil, call)
        return tokens(account, device, scope: scope, call, hasRefresh: false)
    }

    /// The same token is given back: it does not wear out with use.
    fileprivate mutating func renew(_ form: Form, _ call: Call) throws(Refusal) -> Reply {
        guard
            let token = form["refresh_token"], let renewal = renewals[token],
            let account = accounts[renewal.userID], let device = account.devices[renewal.deviceID],
            device.refreshToken == token
        else { throw .noSuchGrant }
        var answer = TokenAnswer(
            accessToken: accessToken(account, device, call),
            secondsLeft: personality.tokenSeconds,
            refreshToken: token,
            scope: "api offline_access"
        )
        answer.login = nil
        return Reply(answer)
    }

    private mutating func tokens(
        _ account: Account,
        _ device: StoredDevice,
        scope: String,
        _ call: Call,
        hasRefresh: Bool
    ) -> Reply {
        var answer = TokenAnswer(
            accessToken: accessToken(account, device, call),
            secondsLeft: personality.tokenSeconds,
            refreshToken: hasRefresh ? device.refreshToken : nil,
            scope: scope
        )
        answer.secondFactorToken = device.rememberToken
        answer.login = TokenAnswer.Login(
            unlock: account.unlock,
            wrappedPrivateKey: account.keys.wrappedPrivateKey,
            keys: account.keys
        )
        return Reply(answer, isRepeated: personality.repeatsWrappedKey)
    }

    private mutating func accessToken(
        _ account: Account,
        _ device: StoredDevice,
        _ call: Call
    ) -> String {
        let expires = call.now.advanced(bySeconds: Int64(personality.tokenSeconds))
        let seconds = Int(expires.ticks / Moment.ticksPerSecond)
        var claims = AccessClaims(
            userID: account.id,
            validFrom: seconds - personality.tokenSeconds,
            validUntil: seconds,
            issuer: call.origin + "|login",
            email: account.email,
            clientID: device.clientID,
            scope: ["api", "offline_access"]
        )
        claims.name = account.shownName
        claims.securityStamp = account.securityStamp
        claims.deviceIdentifier = device.identifier
        claims.deviceType = String(device.type)
        var seal = [UInt8](repeating: 0, count: 32)
        seal.withUnsafeMutableBytes(call.chance.fill)
        let token = claims.token(seal: seal)
        forgetExpired(call)
        let access = StoredDevice.Access(
            token: token,
            stamp: account.securityStamp,
            expires: expires
        )
        admit(device, of: account.id, by: access)
        accounts[account.id]?.devices[device.identifier]?.access = access
        changes.insert(.account(account.id))
        return token
    }

    /// Looked at once in a while, when the number of tokens has doubled.
    private mutating func forgetExpired(_ call: Call) {
        let count = sessions.count
        guard count >= 1_024, count & (count - 1) == 0 else { return }
        sessions = sessions.filter { $0.value.expires > call.now }
    }
}

extension Reply {
    fileprivate init(_ answer: TokenAnswer, isRepeated: Bool = false) {
        self.init(WrittenToken(answer: answer, isRepeated: isRepeated), capacity: 6_144)
    }
}

private struct WrittenToken: JSON.Writable {
    let answer: TokenAnswer
    let isRepeated: Bool

    func write(to json: inout JSON.Writer) { answer.write(to: &json, isRepeated: isRepeated) }
}
