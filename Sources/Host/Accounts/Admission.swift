import Bitwarden
import Crypto
import Logging
import Messaging
import Sync
import Vault

extension Accounts {
    func signIn(_ request: SignInRequest) async throws(DeskRefusal) -> any AccountDesk {
        guard
            let server = request.server ?? server(of: request.email) ?? options.defaultServer
        else {
            throw .notAllowed(
                "Say which server the account is on, or start the host with --upstream URL."
            )
        }
        let link = try link(to: server)
        let entry = Entry(request, server: server, link: link, office: office)
        let known = account(withAddress: request.email, at: link)
        let admitted = try await entry.admit(knowing: known?.record) { id in
            self.account(id)?.record
        }
        // Two who sign in the same account at once would bring up its services twice.
        let (account, isNew) = try await admissions.hold(admitted.tokens.userID) {
            () async throws(DeskRefusal) in try await welcome(admitted, request)
        }
        // Not in turn: whoever takes the account away meanwhile need not wait for that.
        if isNew {
            try await settleIn(account, asDefault: request.isDefault == true)
            // Whoever was the first when it came may have come to nothing.
            try? await preferTheOnlyOne(orTheFirst: everybody.first === account)
            if request.isDefault != false { await putInPlaceOfFormer(account) }
        } else {
            _ = try? await account.sync(isForced: false)
        }
        if request.isDefault == true { try await makeDefault(account.id) }
        office.announce(.account(userID: account.id))
        return account
    }

    /// Where whoever has this address is to sign in: where they are not any more, if that can be told.
    private func server(of email: String) -> String? {
        let known = accounts(withAddress: email)
        return (known.first(where: \.record.isSignedOut) ?? known.first)?.record.server
    }

    /// An account that was here takes up where it was.
    private func welcome(
        _ admitted: Admitted,
        _ request: SignInRequest
    ) async throws(DeskRefusal) -> (account: Account, isNew: Bool) {
        let id = admitted.tokens.userID
        if let account = account(id) {
            let isElsewhere = account.record.server != admitted.server
            let moved = try await isElsewhere ? move(id, to: admitted.server) : nil
            defer { moved?.noteMove() }
            return (try await takeUp(moved ?? account, admitted), false)
        }
        var record = AccountRecord(
            id: id,
            email: request.email,
            server: admitted.server,
            number: (everybody.last?.record.number ?? 0) + 1
        )
        // The first is the default until another is chosen.
        record.choice = claimFirst(id) ? 1 : 0
        defer { waiveFirst(id) }
        record.take(admitted, office.key)
        record.isNewcomer = true
        try await office.put(record)
        let account = try bringUp(record, tokens: admitted.tokens, after: former(id))
        do throws(DeskRefusal) {
            try await account.open(try admitted.key())
        } catch {
            try await dismiss(account, because: error)
        }
        return (account, true)
    }

    /// A new one is only there once all of it has been fetched, unless something waits in its name.
    private func settleIn(
        _ account: Account,
        asDefault isDefault: Bool
    ) async throws(DeskRefusal) {
        let signIn = account.session.signIn
        do throws(DeskRefusal) {
            try await fetchFirst(account)
            // Whoever wishes that and hears that it cannot be has not signed in.
            if isDefault { try await makeDefault(account.id) }
            try await admissions.hold(account.id) { () async throws(DeskRefusal) in
                try await self.account(account.id)?.noteArrival()
            }
        } catch {
            try await admissions.hold(account.id) { () async throws(DeskRefusal) in
                guard self.account(account.id) === account else { throw error }
                // Somebody has signed in meanwhile, and heard that it is there.
                if account.session.signIn == signIn { try await dismiss(account, because: error) }
            }
        }
    }

    /// Takes back that it came. What was edited meanwhile, or carried over from a file that was damaged, is there
    /// already; then it stays.
    private func dismiss(
        _ account: Account,
        because refusal: DeskRefusal
    ) async throws(DeskRefusal) {
        let wasFirst = account.record.choice > 0 || everybody.first === account
        let isGone = try await office.records.hold(account.id) { () async throws(DeskRefusal) in
            let isGone = try await eraseNewcomer(account.id)
            if isGone { end(account) }
            return isGone
        }
        // Who came meanwhile was not the first.
        if isGone { try? await preferTheOnlyOne(orTheFirst: wasFirst) }
        if !isGone { try? await account.noteArrival() }
        guard !isGone, !account.keyholder.isLocked else { throw refusal }
    }

    /// - Returns: Whether it is not to be here any more. What a full disk does not let go of, the next start erases.
    private func eraseNewcomer(_ id: String) async throws(DeskRefusal) -> Bool {
        do throws(DeskRefusal) {
            return try await office.ask { .account(.eraseNewcomer(id, $0)) }
        } catch {
            return try hasNothingPending(id)
        }
    }

    func hasNothingPending(_ id: String) throws(DeskRefusal) -> Bool {
        try office.read { reader throws(StoreError) in try reader.tally(of: id) }.isEmpty
    }

    /// To be done for those whom the last process has not let in, or could not take back.
    func erase(newcomers: [AccountRecord]) async {
        guard !newcomers.isEmpty else { return }
        for newcomer in newcomers {
            await admissions.hold(newcomer.id) {
                guard account(newcomer.id) == nil else { return }
                _ = try? await eraseNewcomer(newcomer.id)
            }
        }
        let wasFirst = newcomers.contains { $0.choice > 0 }
        try? await preferTheOnlyOne(orTheFirst: wasFirst)
    }

    private func takeUp(
        _ known: Account,
        _ admitted: Admitted
    ) async throws(DeskRefusal) -> Account {
        let account = account(known.id) ?? known
        try await account.takeUp(admitted)
        try await account.open(try admitted.key(), after: admitted.formerKeys)
        try? account.staff.scheduler.address.tryTell(.trigger(.signedIn))
        return account
    }

    private func fetchFirst(_ account: Account) async throws(DeskRefusal) {
        let report = try await account.sync(isForced: true)
        switch report.outcome {
        case .completed, .notNeeded: return
        case .deferred, .failed:
            if let setback = report.setback { throw .upstream(setback) }
            if let trouble = report.trouble { throw DeskRefusal(trouble) }
            throw .notAllowed(report.reason ?? "The account could not be fetched.")
        }
    }
}

/// Somebody whom upstream has let in, with what opens the vault.
struct Admitted: Sendable {
    let server: String
    let tokens: Tokens
    let unlock: MasterPasswordUnlock
    let wrappedPrivateKey: String?
    let hasSecurityState: Bool
    let dropsItemKeys: Bool
    let secondFactorToken: String?
    /// What the master password opened before.
    let formerKeys: FormerKeys
    private let keyCase: KeyCase

    init(
        server: String,
        tokens: Tokens,
        unlock: MasterPasswordUnlock,
        wrappedPrivateKey: String?,
        hasSecurityState: Bool,
        dropsItemKeys: Bool,
        secondFactorToken: String?,
        formerKeys: FormerKeys,
        key: KeyCase
    ) {
        self.server = server
        self.tokens = tokens
        self.unlock = unlock
        self.wrappedPrivateKey = wrappedPrivateKey
        self.hasSecurityState = hasSecurityState
        self.dropsItemKeys = dropsItemKeys
        self.secondFactorToken = secondFactorToken
        self.formerKeys = formerKeys
        keyCase = key
    }

    func key() throws(DeskRefusal) -> SymmetricKey {
        do throws(CryptoError) { return try keyCase.key() } catch { throw DeskRefusal(error) }
    }
}

extension AccountRecord {
    mutating func take(_ admitted: Admitted, _ key: HostKey) {
        server = admitted.server
        take(admitted.unlock)
        wrappedPrivateKey = admitted.wrappedPrivateKey ?? wrappedPrivateKey
        hasSecurityState = admitted.hasSecurityState
        dropsItemKeys = admitted.dropsItemKeys
        (isSignedOut, isNewcomer) = (false, false)
        let claims = AccessClaims(token: admitted.tokens.access)
        // The one under which upstream has given these keys.
        securityStamp = claims?.securityStamp
        // Salts these keys, where upstream names no salt. The former ones are salted with the former address.
        if let address = claims?.email, !address.isEmpty { email = address }
        sealedTokens = try? key.seal(admitted.tokens)
        if let token = admitted.secondFactorToken {
            sealedSecondFactor = try? key.sealer.seal(token)
        }
    }
}

/// One attempt to sign in.
private struct Entry {
    let request: SignInRequest
    let server: String
    let link: ServerLink
    let office: Office

    init(_ request: SignInRequest, server: String, link: ServerLink, office: Office) {
        self.request = request
        self.server = server
        self.link = link
        self.office = office
    }

    private var manner: Manner {
        var manner = Manner()
        manner.take(.insistent)
        // Nothing else can be done meanwhile.
        manner.patience = .seconds(10)
        return manner
    }

    /// - Parameters:
    ///   - known: Who has this address on this server, as far as can be told before upstream has said who it is.
    ///   - record: What is known of the account with that id. It may have come from another server, or have had another
    ///     address until now.
    func admit(
        knowing known: AccountRecord?,
        record: (String) -> AccountRecord?
    ) async throws(DeskRefusal) -> Admitted {
        let prelogin = try await upstream { () async throws(Setback) in
            try await link.upstream.prelogin(email: request.email, manner)
        }
        let master = try await master(prelogin)
        let signedIn = try await signIn(master, known)
        return try await admitted(signedIn, master, prelogin, record(signedIn.tokens.userID))
    }

    private func master(_ prelogin: PreloginAnswer) async throws(DeskRefusal) -> MasterKey {
        do throws(CryptoError) {
            return try await MasterKey.derived(
                from: Secret(utf8: request.password),
                salt: KeyDerivation.salt(server: prelogin.salt, email: request.email),
                by: KeyDerivation(prelogin.settings),
                in: office.workshop
            )
        } catch {
            throw DeskRefusal(error)
        }
    }

    private func signIn(
        _ master: borrowing MasterKey,
        _ known: AccountRecord?
    ) async throws(DeskRefusal) -> SignedIn {
        let outcome: SignIn
        if let (clientID, secret) = request.apiKey {
            outcome = try await upstream { () async throws(Setback) in
                try await link.upstream.signIn(clientID: clientID, secret: secret, manner)
            }
        } else {
            let grant = grant(master.serverHash, known)
            outcome = try await upstream { () async throws(Setback) in
                try await link.upstream.signIn(grant, manner)
            }
        }
        switch outcome {
        case .signedIn(let signedIn): return signedIn
        case .needsSecondFactor(let challenge):
            await askForCode(challenge.providers.map(\.rawValue), master.serverHash)
            throw .needsSecondFactor(providers: challenge.providers.map(\.rawValue).sorted())
        case .needsNewDeviceCode(let words): throw .needsNewDeviceCode(words.message)
        case .refused(let words):
            throw .upstream(Setback(.rejected(words), operation: "sign in"))
        }
    }

    /// Servers mail the code only to whoever asks for it. Where there are other ways, that is whoever has
    /// chosen this one.
    private func askForCode(_ providers: [Int], _ hash: String) async {
        let mail = SecondFactorProvider.email.rawValue
        let isChosen = request.twoFactorProvider.map { $0 == mail } ?? (providers == [mail])
        guard isChosen, providers.contains(mail), request.twoFactorToken == nil else { return }
        do throws(Setback) {
            try await link.upstream.sendTwoFactorCode(
                email: request.email,
                masterPasswordHash: hash,
                manner
            )
        } catch {
            office.surroundings.log.warning("No code could be asked for.", because: error)
        }
    }

    private func grant(_ hash: String, _ known: AccountRecord?) -> PasswordGrant {
        var grant = PasswordGrant(email: request.email, masterPasswordHash: hash)
        grant.newDeviceCode = request.newDeviceCode
        if let token = request.twoFactorToken {
            let provider = SecondFactorProvider(rawValue: request.twoFactorProvider ?? 0)
            grant.secondFactor = SecondFactor(provider, token: token, isRemembered: true)
        } else if let sealed = known?.sealedSecondFactor,
            let token = try? office.key.sealer.open(sealed)
        {
            grant.secondFactor = SecondFactor(.remembered, token: token, isRemembered: false)
        }
        return grant
    }

    private func admitted(
        _ signedIn: SignedIn,
        _ master: borrowing MasterKey,
        _ prelogin: PreloginAnswer,
        _ known: AccountRecord?
    ) async throws(DeskRefusal) -> Admitted {
        let (unlock, privateKey, hasSecurityState) = try await wrappedKeys(signedIn, prelogin)
        let keyCase: KeyCase
        let formerKeys: FormerKeys
        do throws(CryptoError) {
            let key = try master.unwrapUserKey(unlock.wrappedUserKey)
            formerKeys = await FormerKeys(
                opening: known?.unlocks(before: unlock) ?? [],
                beside: key,
                Secret(utf8: request.password),
                email: request.email,
                entropy: office.surroundings.entropy,
                in: office.workshop
            )
            keyCase = try KeyCase(key, entropy: office.surroundings.entropy)
        } catch {
            throw DeskRefusal(error)
        }
        return Admitted(
            server: server,
            tokens: signedIn.tokens,
            unlock: unlock,
            wrappedPrivateKey: privateKey,
            hasSecurityState: hasSecurityState,
            dropsItemKeys: await dropsItemKeys(known),
            secondFactorToken: signedIn.secondFactorToken,
            formerKeys: formerKeys,
            key: keyCase
        )
    }

    /// A server that has never told its version may throw them away. Every server takes items without such keys.
    private func dropsItemKeys(_ known: AccountRecord?) async -> Bool {
        do throws(Setback) {
            return !(try await link.upstream.configuration(manner).keepsItemKeys)
        } catch {
            office.surroundings.log.warning(
                "The server does not say whether it keeps items' own keys.",
                because: error
            )
            // What the account's former server does says nothing of this one.
            guard let known, known.server == server else { return true }
            return known.dropsItemKeys
        }
    }

    /// What the answer to the sign-in leaves out of them stands in the profile.
    private func wrappedKeys(
        _ signedIn: SignedIn,
        _ prelogin: PreloginAnswer
    ) async throws(DeskRefusal) -> (
        unlock: MasterPasswordUnlock, privateKey: String?, hasSecurityState: Bool
    ) {
        let login = signedIn.login
        var unlock = login?.unlock
        var privateKey = login?.keys?.wrappedPrivateKey ?? login?.wrappedPrivateKey
        var hasSecurityState = login?.keys?.hasSecurityState ?? false
        if unlock == nil || privateKey == nil {
            let profile = try await profile(signedIn.tokens)
            unlock =
                unlock
                ?? profile.wrappedUserKey.map {
                    MasterPasswordUnlock(
                        settings: prelogin.settings,
                        salt: prelogin.salt,
                        wrappedUserKey: $0
                    )
                }
            privateKey = privateKey ?? profile.wrappedPrivateKey
            hasSecurityState = hasSecurityState || profile.hasSecurityState
        }
        guard let unlock else { throw .notAllowed("The account has no master password.") }
        return (unlock, privateKey, hasSecurityState)
    }

    private func profile(_ tokens: Tokens) async throws(DeskRefusal) -> Profile {
        let session = link.upstream.session(tokens) { _ in }
        let account = UpstreamAccount(link.upstream, session)
        return try await upstream { () async throws(Setback) in try await account.profile() }
    }

    private func upstream<Value: Sendable>(
        _ body: () async throws(Setback) -> Value
    ) async throws(DeskRefusal) -> Value {
        do throws(Setback) { return try await body() } catch {
            if case .throttled = error.reason { await link.keepHolds() }
            throw .upstream(error)
        }
    }
}
