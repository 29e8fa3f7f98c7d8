import Bitwarden
import Crypto
import JSON
import Messaging
import Sync
import System
import Vault

extension Account: AccountDesk {
    var standing: AccountStanding {
        get async throws(DeskRefusal) { standing(try pendingCounts()) }
    }

    func standing(_ pending: AccountStanding.Pending) -> AccountStanding {
        let record = record
        let syncing = syncing
        var standing = AccountStanding(
            id: id,
            email: record.email,
            server: link.upstream.bases.server,
            status: presentStatus,
            isDefault: record.choice > 0,
            lastSync: syncing.lastSync,
            lastReport: syncing.lastReport,
            network: link.monitor.standing.state,
            pending: pending,
            isPremium: record.isPremium
        )
        let (now, elapsed) = (office.surroundings.now, office.surroundings.timekeeper.elapsed)
        let backoff = syncing.outlook.backoff(at: now, elapsed)
        standing.nextRetry = backoff?.retry
        standing.backoff = backoff?.longest
        return standing
    }

    /// What the roll has of the account.
    var entry: Roll.Entry {
        Roll.Entry(
            status: presentStatus,
            server: link.number,
            outlook: syncing.outlook,
            canResolve: switches.now.resolution
        )
    }

    var outline: AccountOutline {
        get async throws(DeskRefusal) {
            let record = record
            return AccountOutline(
                id: id,
                email: record.email,
                server: link.upstream.bases.server,
                status: try await status,
                lastSync: syncing.lastSync,
                isPremium: record.isPremium
            )
        }
    }

    var reach: (state: NetworkState, since: Moment) {
        let standing = link.monitor.standing
        return (standing.state, standing.since)
    }

    var status: AccountStanding.Status {
        get async throws(DeskRefusal) { presentStatus }
    }

    private var presentStatus: AccountStanding.Status {
        if isSignedOut { return .signedOut }
        return keyholder.isLocked ? .locked : .unlocked
    }

    /// What is here stays, sealed, until the user signs in again.
    private var isSignedOut: Bool {
        guard session.isSignedOut || record.isSignedOut else { return false }
        if !keyholder.isLocked { lockKeys() }
        return true
    }

    private func pendingCounts() throws(DeskRefusal) -> AccountStanding.Pending {
        var pending = AccountStanding.Pending()
        let (tally, oldest) = try office.read { reader throws(StoreError) in
            let tally = try reader.tally(of: id)
            return (tally, tally.isEmpty ? nil : try reader.oldest(of: id))
        }
        for row in tally { pending.add(row.count, in: row.state) }
        pending.oldest = oldest?.created
        return pending
    }

    // MARK: Keys

    func unlock(_ password: consuming Secret) async throws(DeskRefusal) {
        if isSignedOut { throw .noAccount }
        guard let unlock = record.unlock else { throw .notAllowed(Self.noPassword) }
        let record = record
        let master = try await masterKey(unlock, email: record.email, password.copy())
        let key: SymmetricKey
        do throws(CryptoError) {
            key = try master.unwrapUserKey(unlock.wrappedUserKey)
        } catch {
            throw DeskRefusal(error)
        }
        let former = await FormerKeys(
            opening: record.formerUnlocks,
            beside: key,
            password,
            email: record.email,
            entropy: office.surroundings.entropy,
            in: office.workshop
        )
        try await open(key, after: former)
        try? staff.scheduler.address.tryTell(.trigger(.unlocked))
    }

    private static let noPassword =
        "The account has no master password that this host knows of. Sign in again."

    private func masterKey(
        _ unlock: MasterPasswordUnlock,
        email: String,
        _ password: consuming Secret
    ) async throws(DeskRefusal) -> MasterKey {
        do throws(CryptoError) {
            return try await MasterKey.derived(
                from: password,
                salt: KeyDerivation.salt(server: unlock.salt, email: email),
                by: KeyDerivation(unlock.settings),
                in: office.workshop
            )
        } catch {
            throw DeskRefusal(error)
        }
    }

    func lock() async { lockKeys() }

    func sync(isForced: Bool) async throws(DeskRefusal) -> SyncReport {
        // What waits, waits until somebody signs in again; nothing is lost, and the report says so.
        if isSignedOut, try !hasLiveChanges { throw .noAccount }
        let signIn = session.signIn
        let report: SyncReport
        do throws(Undelivered) {
            report = try await staff.scheduler.address.ask { .sync(isFull: isForced, $0) }
        } catch {
            throw turningAway
        }
        guard report.outcome == .failed else { return report }
        if isGone { throw turningAway }
        // What was asked in the name of an earlier sign-in ends with that, and says nothing.
        guard report.setback?.reason == .cancelled, session.signIn != signIn else { return report }
        return try await sync(isForced: isForced)
    }

    private var hasLiveChanges: Bool {
        get throws(DeskRefusal) {
            try office.read { reader throws(StoreError) in try reader.liveCount(of: id) } > 0
        }
    }

    func fingerprint() async throws(DeskRefusal) -> String {
        let keys = try keys()
        guard let publicKey = keys.publicKey else {
            throw .notAllowed("The account has no key pair.")
        }
        return try phrase(of: publicKey, id)
    }

    func fingerprint(of userID: String) async throws(DeskRefusal) -> String {
        _ = try keys()
        let publicKey = try await publicKey(of: userID)
        return try phrase(of: publicKey, userID)
    }

    private func phrase(
        of publicKey: [UInt8],
        _ userID: String
    ) throws(DeskRefusal) -> String {
        try crypto { () throws(CryptoError) in
            try FingerprintPhrase(publicKey: publicKey, userID: userID).description
        }
    }

    func keys() throws(DeskRefusal) -> KeyRing {
        if isSignedOut { throw .noAccount }
        guard let keys = keyholder.keys else { throw .locked }
        return keys
    }

    // MARK: The vault

    func items() async throws(DeskRefusal) -> [ViewedItem] {
        _ = try keys()
        return try await ask { .list($0) }
    }

    func item(_ id: String) async throws(DeskRefusal) -> ViewedItem? {
        _ = try keys()
        return try await ask { .view(id, $0) }
    }

    func folders() async throws(DeskRefusal) -> [ViewedFolder] {
        let keys = try keys()
        return try slices(.folder).compactMap { json in
            guard let folder = try? FolderAnswer(json: json) else { return nil }
            return folder.viewed(keys)
        }
    }

    func collections() async throws(DeskRefusal) -> [ViewedCollection] {
        let keys = try keys()
        return try slices(.collection).compactMap { json in
            guard let answer = try? CollectionAnswer(json: json) else { return nil }
            let sealer = keys.owner(organizationID: answer.organizationID)
            return ViewedCollection(
                id: answer.id,
                organizationID: answer.organizationID,
                name: sealer.flatMap { try? $0.open(answer.name) } ?? Item.unreadableName,
                externalID: json[anyCase: "externalId"]?.string
            )
        }
    }

    func organizations() async throws(DeskRefusal) -> [Membership] {
        _ = try keys()
        return try memberships()
    }

    func slices(_ kind: BaseSlice.Kind) throws(DeskRefusal) -> [JSON.Value] {
        try office.read { reader throws(StoreError) in try reader.slices(of: id, kind) }
            .filter { !$0.isDamaged }
            .compactMap { try? JSON.Document($0.json).root }
    }

    func ask<Value: Sendable>(
        _ message: (Reply<Result<Value, Repository.Refusal>>) -> Repository.Message
    ) async throws(DeskRefusal) -> Value {
        let answer: Result<Value, Repository.Refusal>
        do throws(Undelivered) {
            answer = try await staff.repository.address.ask(message)
        } catch {
            throw turningAway
        }
        do throws(Repository.Refusal) {
            return try answer.get()
        } catch .busy {
            throw turningAway
        } catch {
            // What was recorded of an account that was erased has gone with it.
            if case .unsettled = error, case .noAccount = turningAway { throw turningAway }
            throw DeskRefusal(error)
        }
    }
}

extension FolderAnswer {
    func viewed(_ keys: KeyRing) -> ViewedFolder {
        ViewedFolder(id: id, name: (try? keys.user.open(name)) ?? Item.unreadableName)
    }
}

extension KeyDerivation {
    init(_ settings: DerivationSettings) throws(CryptoError) {
        try self.init(
            kdf: settings.kind,
            iterations: settings.iterations,
            memory: settings.memory,
            parallelism: settings.parallelism
        )
    }
}

// MARK: - Edits

extension Account {
    func add(_ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem> {
        try await counting(.create) { () async throws(DeskRefusal) in
            try await requireFolderID(of: body)
        }
        return try await write(.add(body))
    }

    func update(_ id: String, _ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem> {
        // Only who pays for it keeps an archive.
        let body = record.isPremium ? body : body.outOfArchive()
        try await counting(.update) { () async throws(DeskRefusal) in
            try await requireFolderID(of: body)
        }
        let written = try await write(.update(id, body), of: .isLive)
        let shown = written.value.item.cipher
        let missing = body.collectionIDs.filter { !shown.collectionIDs.contains($0) }
        guard !missing.isEmpty, shown.organizationID != nil, let itemID = shown.id else {
            return written
        }
        // Upstream takes no collections along with the rest of an item, which is saved whatever becomes of them.
        let all = shown.collectionIDs + missing
        guard let item = try? await setCollections(of: itemID, to: all) else { return written }
        return written.map { _ in item }
    }

    /// Servers differ in what they make of a folder's id that is none, and offline nobody can ask.
    private func requireFolderID(of body: ItemBody) async throws(DeskRefusal) {
        guard let id = body.folderID, !id.isIdentifier else { return }
        guard try await folders().contains(where: { $0.id == id }) else {
            throw .unfit(.unfit(JSON.Mismatch("must be the id of a folder", at: ["folderId"])))
        }
    }

    func trash(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        try await edit(.trash(id), of: .isSeen).done
    }

    func delete(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        try await edit(.delete(id), of: .isSeen).done
    }

    func restore(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        let wish = try await counting(.restore) {
            () async throws(DeskRefusal) -> Repository.Wish in
            let item = try await existing(id)
            if item.cipher.isInTrash { return .restore(id) }
            guard item.cipher.isArchived else { throw .notInTrash }
            return .unarchive(id)
        }
        return try await edit(wish).done
    }

    func archive(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        try await counting(.other) { () async throws(DeskRefusal) in
            let item = try await existing(id)
            guard !item.cipher.isInTrash else { throw .trashedToArchive }
            guard !item.cipher.isArchived else { throw .archivedAlready }
            guard record.isPremium else { throw .premium }
        }
        return try await edit(.archive(id)).done
    }

    func noteRefused(_ operation: SyncMetrics.Operation) {
        office.surroundings.metrics.edited(operation, .rejected, after: .zero)
    }

    /// What is refused before it is an edit is counted as one all the same.
    private func counting<Value>(
        _ operation: SyncMetrics.Operation,
        _ body: () async throws(DeskRefusal) -> Value
    ) async throws(DeskRefusal) -> Value {
        do throws(DeskRefusal) {
            return try await body()
        } catch {
            noteRefused(operation)
            throw error
        }
    }

    private func existing(_ id: String) async throws(DeskRefusal) -> Item {
        guard let viewed = try await item(id) else { throw .notFound }
        return viewed.item
    }

    private func edit(
        _ wish: Repository.Wish,
        of expectation: Repository.Expectation = .anything
    ) async throws(DeskRefusal) -> Written<String> {
        _ = try keys()
        return try await ask { .edit(wish, of: expectation, $0) }
    }

    private func write(
        _ wish: Repository.Wish,
        of expectation: Repository.Expectation = .anything
    ) async throws(DeskRefusal) -> Written<ViewedItem> {
        _ = try keys()
        return try await ask { .write(wish, of: expectation, $0) }
    }
}

extension Written {
    fileprivate var done: Written<Void> { Written<Void>((), disposition) }
}

// MARK: - The queue

extension Account {
    /// Before this nothing is sent, because of a failure or because upstream asked for it.
    var heldUntil: Moment? {
        [syncing.heldUntil(at: office.surroundings.now), link.upstream.holds.api]
            .compactMap(\.self).max()
    }

    func pending() async throws(DeskRefusal) -> [StoredChange] {
        try office.read { reader throws(StoreError) in try reader.changes(of: id) }
    }

    func pendingChange(_ changeID: String) async throws(DeskRefusal) -> StoredChange? {
        let stored = try office.read { reader throws(StoreError) in try reader.change(changeID) }
        return stored?.summary.lane.userID == id ? stored : nil
    }

    func retry(_ changeID: String) async throws(DeskRefusal) -> StoredChange? {
        guard try await ask({ .makeReady(changeID: changeID, $0) }) else { throw .notFound }
        do throws(Undelivered) {
            _ = try await staff.scheduler.address.ask { .retry(changeID: changeID, $0) }
        } catch {
            throw turningAway
        }
        return try await pendingChange(changeID)
    }

    func saveCopy(_ changeID: String) async throws(DeskRefusal) -> Written<ViewedItem> {
        _ = try keys()
        guard let written = try await ask({ .saveCopy(changeID: changeID, $0) }) else {
            throw .notFound
        }
        return written
    }

    func discard(_ changeID: String) async throws(DeskRefusal) {
        guard try await ask({ .discard(changeID: changeID, $0) }) else { throw .notFound }
    }

    func receipt(_ receiptID: String) async throws(DeskRefusal) -> Receipt? {
        try office.read { reader throws(StoreError) in try reader.receipt(receiptID, of: id) }
    }

    func resolutions(
        since moment: Moment?,
        limit: Int
    ) async throws(DeskRefusal) -> [ResolutionEntry] {
        try office.read { reader throws(StoreError) in
            try reader.resolutions(of: id, since: moment ?? Moment(ticks: .min), limit: limit)
        }
    }
}

extension AccountStanding.Pending {
    fileprivate mutating func add(_ count: Int, in state: PendingChange.State.Kind) {
        total += count
        switch state {
        case .ready: ready += count
        case .inFlight: inFlight += count
        case .backingOff: backingOff += count
        case .quarantined: quarantined += count
        }
    }
}
