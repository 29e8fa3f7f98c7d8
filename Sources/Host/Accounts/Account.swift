import Bitwarden
import Crypto
import JSON
import Logging
import Messaging
import Sync
import System
import Vault

/// One account of the host: its keys, what is remembered of it, and its services, which are brought up
/// when they are needed and rest when nobody has needed them for a while.
final class Account: Sendable {
    let id: String
    let office: Office
    let link: ServerLink
    let session: Session
    let keyholder = Keyholder()
    /// The lanes of its items, for all who do something to one: its services, those that come after them,
    /// and the account itself.
    let lanes: Lanes
    let switches: SwitchBoard
    let upstream: WatchedUpstream
    private let notebook: Notebook
    private let memory: Lock<Memory>
    private let duty = Lock(Duty())

    /// What changes about an account.
    private struct Memory {
        var record: AccountRecord
        /// Whether the disk has it so.
        var isKept = true
        var keyCase: KeyCase?
        /// What upstream takes back later may be under one of these.
        var formerKeys = FormerKeys.none
        /// What the keys that are held were opened from. To open the same again takes a millisecond.
        var opened: WrappedKeys?
    }

    private struct Duty {
        var staff: Staff?
        /// What the services left behind when they went to rest.
        var syncing = Syncing()
        var lastCall = Duration.zero
        /// The services that ran last, as long as they may not have ended.
        var former: Shift?
        var isGone = false
        var isErased = false
    }

    /// When upstream is to be asked for its equivalent domains again.
    let domainsDue = Lock(DomainsDue())
    /// Files that were announced, and never came.
    let strayFiles = Lock<[StrayFile]>([])
    /// When the files that are kept are to be looked through again.
    let cacheDue = Lock(Moment(ticks: .min))

    var record: AccountRecord { memory.withLock { $0.record } }

    /// - Parameters:
    ///   - former: The services that the account had on another server or before it was erased, if they may not have
    ///     ended.
    ///   - lanes: Those that it had on the other server.
    init(
        _ record: AccountRecord,
        tokens: Tokens,
        link: ServerLink,
        office: Office,
        after former: Shift?,
        in lanes: Lanes
    ) {
        id = record.id
        self.lanes = lanes
        self.office = office
        self.link = link
        let notebook = Notebook()
        self.notebook = notebook
        session = link.upstream.session(tokens) { await notebook.account?.keep($0) }
        upstream = WatchedUpstream(UpstreamAccount(link.upstream, session), link) {
            await notebook.account?.learn($0, inSession: $1)
        } recognise: {
            await notebook.account?.recognises($0, inSession: $1) ?? true
        } signedOut: {
            await notebook.account?.noteSignOut(ofSession: $0)
        }
        switches = office.switchBoard()
        memory = Lock(Memory(record: record))
        notebook.account = self
        if record.isSignedOut { session.signOut() }
        let syncing = Syncing(makeStaff(after: nil).scheduler)
        duty.withLock { ($0.syncing, $0.former) = (syncing, former) }
    }

    /// Where what is heard of the account is written down, once it is there.
    private final class Notebook: Sendable {
        private let held = Lock(Held())

        private struct Held {
            weak var account: Account?
        }

        var account: Account? {
            get { held.withLock { $0.account } }
            set { held.withLock { $0.account = newValue } }
        }
    }
}

// MARK: - On duty and at rest

extension Account {
    /// Its services, which run from now on if they did not.
    var staff: Staff {
        let now = office.surroundings.timekeeper.elapsed
        return duty.withLock { duty in
            duty.lastCall = now
            if let staff = duty.staff { return staff }
            let staff = makeStaff(after: duty.former)
            duty.staff = staff
            // Whoever still has an account that was taken away hears that nothing is done for it.
            if duty.isGone { staff.dismiss() } else { office.roster.takeUp(self, staff) }
            return staff
        }
    }

    private func makeStaff(after former: Shift?) -> Staff {
        let notebook = notebook
        return Staff(of: id, upstream, keyholder, lanes, switches, link, office, after: former) {
            notebook.account?.heedLogOut()
        } copying: { (file) async throws(DeskRefusal) in
            // Its services go on for a moment when the account is taken away, or moves.
            guard let account = notebook.account else { throw .busy }
            return try await account.copyFile(file)
        } aftercare: {
            await notebook.account?.renewRing()
            await notebook.account?.resealWhatIsOfferedAgain()
            let wait = await notebook.account?.takeBackStrays()
            await notebook.account?.trimCache()
            return wait ?? nil
        }
    }

    /// How syncing stands. Nobody is woken for that.
    var syncing: Syncing {
        duty.withLock { duty in duty.staff.map { Syncing($0.scheduler) } ?? duty.syncing }
    }

    /// Puts the services to rest until the next sync is due, if the vault is closed and nobody has
    /// called them for a while.
    func rest() {
        guard keyholder.isLocked else { return }
        let now = office.surroundings.timekeeper.elapsed
        let staff: Staff? = duty.withLock { duty in
            guard let staff = duty.staff, !duty.isGone, now - duty.lastCall >= Self.quiet,
                staff.scheduler.isIdle
            else { return nil }
            duty.syncing = Syncing(staff.scheduler)
            (duty.staff, duty.former) = (nil, staff.shift)
            office.roster.rest(id, until: due(duty.syncing))
            return staff
        }
        staff?.close()
    }

    /// What somebody hears whose question its services do not answer any more.
    var turningAway: DeskRefusal { duty.withLock(\.isErased) ? .noAccount : .busy }

    /// Nothing of it is kept any more.
    func noteErasure() { duty.withLock { $0.isErased = true } }

    /// Whether it was taken away; another may have its place.
    var isGone: Bool { duty.withLock(\.isGone) }

    /// As an account that nobody needs yet.
    func takePlace() {
        duty.withLock { office.roster.rest(id, until: due($0.syncing)) }
    }

    private func due(_ syncing: Syncing) -> Duration {
        let surroundings = office.surroundings
        let wait = syncing.next.map { $0 - surroundings.now } ?? office.policy.interval
        return surroundings.timekeeper.elapsed + wait
    }

    /// Longer than anything takes that was asked of them.
    static let quiet = Duration.seconds(120)

    /// The account is not here any more.
    ///
    /// - Parameter letsEditsEnd: Whether those that are under way are waited for.
    /// - Returns: Its services, if they may still be running.
    @discardableResult
    func close(letsEditsEnd: Bool = false) -> Shift? {
        let (staff, former) = duty.withLock { duty in
            duty.isGone = true
            office.roster.remove(id)
            return (duty.staff, duty.former)
        }
        if letsEditsEnd { staff?.closeAfterEdits() } else { staff?.close() }
        return staff?.shift ?? former
    }
}

// MARK: - What is remembered

extension Account {
    /// Changes the record, and keeps it.
    func change(_ body: @Sendable (inout AccountRecord) -> Void) async throws(DeskRefusal) {
        try await office.records.hold(id) { () async throws(DeskRefusal) in try await put(body) }
    }

    /// Whoever has signed in is told that it is there.
    func noteArrival() async throws(DeskRefusal) {
        if record.isNewcomer { try await change { $0.isNewcomer = false } }
    }

    /// Whoever has signed in again goes on with all that they have brought, and, as long as it is not kept, with
    /// nothing of it.
    func takeUp(_ admitted: Admitted) async throws(DeskRefusal) {
        try await office.records.hold(id) { () async throws(DeskRefusal) in
            let known = record.unlock?.wrappedUserKey
            try await put { $0.take(admitted, office.key) }
            // With the session that comes back, nothing is to be sent under a key of yesterday.
            if known != admitted.unlock.wrappedUserKey { lockKeys() }
            session.signIn(admitted.tokens)
        }
    }

    /// Only in turn.
    func put(_ body: (inout AccountRecord) -> Void) async throws(DeskRefusal) {
        guard !isGone else { throw .notFound }
        var changed = record
        body(&changed)
        try await office.put(changed)
        memory.withLock { ($0.record, $0.isKept) = (changed, true) }
        office.addresses.note(changed.email, of: id)
    }

    fileprivate func keep(_ tokens: Tokens) async {
        let signIn = session.signIn
        await note { record, office in
            // Whoever has signed in meanwhile has brought others.
            guard session.signIn == signIn else { return }
            record.sealedTokens = try? office.key.seal(tokens)
        }
    }

    /// What a sync says of the account itself.
    ///
    /// - Parameter signIn: The sign-in in whose name it was asked. What a later one has brought is newer.
    fileprivate func learn(_ answer: SyncAnswer, inSession signIn: Int) async {
        guard session.signIn == signIn, await recognises(answer.profile, inSession: signIn)
        else { return }
        let stamp = answer.profile.securityStamp
        let isPremium = answer.isPremium
        await note { record, _ in
            guard session.signIn == signIn else { return }
            // What was said before the end of the session does not take that back.
            if !session.isSignedOut { record.isSignedOut = false }
            record.securityStamp = stamp ?? record.securityStamp
            record.isPremium = isPremium
            record.hasSecurityState = answer.profile.hasSecurityState
            // The same text is not held twice.
            if let key = answer.profile.wrappedPrivateKey, key != record.wrappedPrivateKey {
                record.wrappedPrivateKey = key
            }
            if let unlock = answer.unlock { record.take(unlock) }
            // The former ones are salted with the former address.
            record.email = answer.profile.email
        }
        await renewRing(answer.profile.memberships)
    }

    /// Whether upstream has the account as it is known here. If not, the user has to sign in again.
    ///
    /// - Parameter signIn: The sign-in in whose name it was asked. A later one is not ended.
    fileprivate func recognises(_ profile: Profile, inSession signIn: Int) async -> Bool {
        // In turn: what was known before a sign-in says nothing of what that has brought.
        let (isRecognised, isEnded) = await office.records.hold(id) {
            let isRecognised = record.recognises(profile)
            return (isRecognised, !isRecognised && session.signOut(of: signIn))
        }
        guard isEnded else { return isRecognised }
        office.surroundings.log.notice(
            "Upstream has another password or other keys, so whoever it is has to sign in again.",
            ["account": id]
        )
        await noteSignOut(ofSession: signIn)
        return false
    }

    private func note(
        _ body: @Sendable (inout AccountRecord, Office) -> Void
    ) async {
        await office.records.hold(id) {
            guard !isGone else { return }
            let new = memory.withLock { memory -> AccountRecord? in
                let old = memory.record
                body(&memory.record, office)
                let isNew = !memory.isKept || old.stored != memory.record.stored
                return isNew ? memory.record : nil
            }
            guard let new else { return }
            office.addresses.note(new.email, of: id)
            do {
                try await office.put(new)
                memory.withLock { $0.isKept = true }
            } catch {
                memory.withLock { $0.isKept = false }
                let log = office.surroundings.log
                log.error("What is new of an account was not kept.", because: error)
            }
        }
    }

    /// Upstream wants all devices to log out. Whether this one has to shows when it asks for a new token.
    func heedLogOut() {
        if !keyholder.isLocked { lockKeys() }
        session.doubt()
    }

    /// Upstream has ended the session. Nothing opens the vault again but signing in, not even a restart.
    fileprivate func noteSignOut(ofSession signIn: Int) async {
        guard session.signIn == signIn else { return }
        if !keyholder.isLocked { lockKeys() }
        await note { record, office in
            guard session.signIn == signIn else { return }
            // What another host.key has sealed is as good as before once that is back: nobody has asked upstream.
            let isSealedOtherwise = record.sealedTokens.map { office.key.openTokens($0) == nil }
            if isSealedOtherwise != true { record.isSignedOut = true }
        }
        office.announce(.account(userID: id))
    }

    /// What a sync has brought while the vault was being opened was there too late for that.
    func renewRing() async {
        guard !keyholder.isLocked, let memberships = try? memberships() else { return }
        await renewRing(memberships)
    }

    /// Organisations come and go while the vault is open.
    private func renewRing(_ memberships: [Membership]) async {
        guard let keyCase = memory.withLock({ $0.keyCase }) else { return }
        do {
            let wrapped = WrappedKeys(memberships, record)
            if memory.withLock({ $0.opened == wrapped }) { return }
            let ring = try await KeyRing.opened(
                user: try keyCase.key(),
                account: wrapped,
                entropy: office.surroundings.entropy,
                in: office.workshop
            )
            // Locked meanwhile, or opened with another key: it stays so.
            memory.withLock { memory in
                guard keyCase.isSame(as: memory.keyCase) else { return }
                memory.opened = wrapped
                keyholder.unlock(ring)
            }
        } catch CryptoError.notBegun {
            return
        } catch {
            office.surroundings.log.error(
                "The keys of an account cannot be opened.",
                because: error
            )
        }
    }
}

extension SyncAnswer {
    fileprivate var isPremium: Bool {
        guard let profile = try? JSON.Document(profileText).root else { return false }
        return profile[anyCase: "premium"]?.bool ?? false
            || profile[anyCase: "premiumFromOrganization"]?.bool ?? false
    }
}

extension WrappedKeys {
    init(_ memberships: [Membership], _ record: AccountRecord) {
        let open = memberships.filter(\.opens)
        self.init(
            privateKey: record.wrappedPrivateKey,
            organizations: Dictionary(
                open.compactMap { member in
                    member.wrappedKey.map { (member.organizationID, $0) }
                }
            ) { first, _ in first },
            hasSecurityState: record.hasSecurityState,
            dropsItemKeys: record.dropsItemKeys
        )
    }
}

// MARK: - Keys

extension Account {
    /// Opens the vault with the user's key, after what is pending has been brought under it.
    func open(
        _ key: consuming SymmetricKey,
        after formerKeys: FormerKeys = .none
    ) async throws(DeskRefusal) {
        let record = record
        let wrapped = WrappedKeys(try memberships(), record)
        let (keyCase, ring): (KeyCase, KeyRing)
        do throws(CryptoError) {
            keyCase = try KeyCase(key, entropy: office.surroundings.entropy)
            ring = try await KeyRing.opened(
                user: key,
                account: wrapped,
                entropy: office.surroundings.entropy,
                in: office.workshop
            )
        } catch {
            guard error != .notBegun else { throw .busy }
            throw .notAllowed("The account's keys cannot be opened. \(error)")
        }
        await reseal(from: formerKeys, to: ring)
        // In the name of whoever has left, nothing is resealed.
        guard formerKeys.cases.isEmpty || !Task.isCancelled else { throw turningAway }
        memory.withLock { memory in
            memory.keyCase = keyCase
            memory.formerKeys = formerKeys
            memory.opened = wrapped
            keyholder.unlock(ring)
        }
        // If it has moved meanwhile, its keys have perhaps not come along.
        guard !isGone else { throw turningAway }
        if !formerKeys.needless.isEmpty { try? await change { $0.forget(formerKeys.needless) } }
        office.announce(.account(userID: id))
    }

    /// What upstream has taken and does not show any more is pending again, under the key that it was sent
    /// under.
    func resealWhatIsOfferedAgain() async {
        let former = memory.withLock { $0.formerKeys }
        guard !former.cases.isEmpty, let present = keyholder.keys else { return }
        await reseal(from: former, to: present)
    }

    /// What cannot be brought under the present key stays as it is, set aside.
    private func reseal(from formerKeys: FormerKeys, to present: KeyRing) async {
        for former in formerKeys.cases {
            do {
                let ring = try await KeyRing.opened(
                    user: try former.key(),
                    account: WrappedKeys(privateKey: nil),
                    entropy: office.surroundings.entropy,
                    in: office.workshop
                )
                let count = try await staff.resolver.address.ask {
                    .reseal(from: ring, to: present, $0)
                }.get()
                if count > 0 { try? staff.scheduler.address.tryTell(.trigger(.queued)) }
            } catch Undelivered.cancelled, CryptoError.notBegun {
                return
            } catch {
                office.surroundings.log.error(
                    "What is pending could not be brought under the account's new key.",
                    because: error
                )
            }
        }
    }

    /// The same account on another server.
    func takeKeys(from other: Account) {
        guard let keys = other.keyholder.keys else { return }
        let (keyCase, former) = other.memory.withLock { ($0.keyCase, $0.formerKeys) }
        memory.withLock { memory in
            (memory.keyCase, memory.formerKeys, memory.opened) = (keyCase, former, nil)
            keyholder.unlock(keys)
        }
    }

    /// Its services hear of it when they begin, which is when those on the former server have ended.
    func noteMove() { try? staff.scheduler.address.tryTell(.trigger(.moved)) }

    func lockKeys() {
        memory.withLock { memory in
            (memory.keyCase, memory.formerKeys, memory.opened) = (nil, .none, nil)
            keyholder.lock()
        }
        office.announce(.account(userID: id))
    }

    func memberships() throws(DeskRefusal) -> [Membership] {
        try office.read { reader throws(StoreError) in
            try reader.slices(of: id, .organization)
        }
        .filter { !$0.isDamaged }
        .compactMap { slice in
            guard let document = try? JSON.Document(slice.json) else { return nil }
            return try? Membership(json: document.root)
        }
    }
}
