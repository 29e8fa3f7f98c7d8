import Bitwarden
import Crypto
import System
import Vault

@testable import Host
@testable import Sync

/// An account that lies still: real items under real keys, in memory, by the rules of the host, and
/// an upstream that is there or away as the test says.
final class StillDesk: AccountDesk {
    struct State {
        var isUnlocked = true
        var isSignedOut = false
        var isPremium = true
        var isAway = false
        var isDefault = true
        var lastSync: Moment?
        var lastReport: SyncReport?
        var ciphers: [String: Cipher] = [:]
        /// Ids that items had before upstream named them.
        var aliases: [String: String] = [:]
        /// When another device changed them last.
        var movedElsewhere: [String: Moment] = [:]
        var folders: [String: String] = [:]
        var collections: [ViewedCollection] = []
        var memberships: [Membership] = []
        var files: [String: [UInt8]] = [:]
        var sends: [String: StillSend] = [:]
        var pending: [StoredChange] = []
        var heldUntil: Moment?
        var receipts: [String: Receipt] = [:]
        var resolutions: [ResolutionEntry] = []
        var syncs = 0
    }

    let id: String
    let email: String
    let password: String
    let keys: KeyRing
    let entropy: SeededChance
    let state = Lock(State())
    let clock: StillClock
    let announce: @Sendable (MeshEvent) -> Void

    static let server = "https://vault.example.test"

    init(
        id: String,
        email: String,
        password: String = "correct horse",
        clock: StillClock,
        seed: UInt64 = 7,
        announce: @escaping @Sendable (MeshEvent) -> Void = { _ in }
    ) throws {
        self.id = id
        self.email = email
        self.password = password
        self.clock = clock
        self.announce = announce
        entropy = SeededChance(seed: seed)
        keys = try KeyRing(
            user: SymmetricKey(from: entropy),
            account: WrappedKeys(privateKey: nil),
            entropy: entropy
        )
    }

    func change<Result>(_ body: (inout sending State) throws -> sending Result) rethrows -> Result {
        try state.withLock(body)
    }

    // MARK: Standing

    var standing: AccountStanding {
        get async throws(DeskRefusal) {
            state.withLock { state in
                var pending = AccountStanding.Pending()
                pending.total = state.pending.count
                pending.ready = state.pending.count { $0.summary.state == .ready }
                pending.backingOff = state.pending.count { $0.summary.state.kind == .backingOff }
                pending.quarantined = state.pending.count { $0.summary.state == .quarantined }
                pending.oldest = state.pending.map(\.summary.created).min()
                return AccountStanding(
                    id: id,
                    email: email,
                    server: Self.server,
                    status: Self.status(of: state),
                    isDefault: state.isDefault,
                    lastSync: state.lastSync,
                    lastReport: state.lastReport,
                    network: state.isAway ? .offline : .online,
                    pending: pending,
                    isPremium: state.isPremium
                )
            }
        }
    }

    private static func status(of state: State) -> AccountStanding.Status {
        state.isSignedOut ? .signedOut : state.isUnlocked ? .unlocked : .locked
    }

    var reach: (state: NetworkState, since: Moment) {
        (state.withLock(\.isAway) ? .offline : .online, Moment(ticks: 17_681_155_649_012_345))
    }

    var status: AccountStanding.Status {
        get async throws(DeskRefusal) { state.withLock { Self.status(of: $0) } }
    }

    var equivalentDomains: [[String]] {
        get async throws(DeskRefusal) { [["example.test", "example.org"]] }
    }

    func unlock(_ password: consuming Secret) async throws(DeskRefusal) {
        guard password.isEqual(to: Secret(utf8: self.password)) else { throw .wrongPassword }
        state.withLock { $0.isUnlocked = true }
        announce(.account(userID: id))
    }

    func lock() async {
        state.withLock { $0.isUnlocked = false }
        announce(.account(userID: id))
    }

    func sync(isForced: Bool) async throws(DeskRefusal) -> SyncReport {
        let now = clock.moment()
        let report: SyncReport = state.withLock { state in
            state.syncs += 1
            if !state.isAway { Self.drain(&state) }
            let report =
                if state.isAway {
                    state.pending.isEmpty
                        ? SyncReport(.failed, reason: "Upstream is unreachable.", ended: now)
                        : SyncReport(.deferred, reason: "Changes are pending.", ended: now)
                } else {
                    SyncReport(isForced ? .completed : .notNeeded, reason: nil, ended: now)
                }
            state.lastReport = report
            if !state.isAway { state.lastSync = now }
            return report
        }
        announce(.sync(userID: id, report))
        return report
    }

    private static func drain(_ state: inout State) {
        state.pending.removeAll { $0.summary.state != .quarantined }
        for (id, receipt) in state.receipts where receipt.status == .queued {
            state.receipts[id] = receipt.ended(.sent)
        }
    }

    func fingerprint() async throws(DeskRefusal) -> String { "one-two-three-four-five" }

    func fingerprint(of userID: String) async throws(DeskRefusal) -> String { throw .notFound }

    // MARK: Reading

    func items() async throws(DeskRefusal) -> [ViewedItem] {
        let (ciphers, pending) = state.withLock { (Array($0.ciphers.values), $0.pending) }
        return ciphers.map { ViewedItem(Item($0, keys: keys), Self.mark(of: $0.id, pending)) }
    }

    func item(_ id: String) async throws(DeskRefusal) -> ViewedItem? { viewed(id) }

    func viewed(_ id: String) -> ViewedItem? {
        let (cipher, pending) = state.withLock { state in
            (state.ciphers[state.aliases[id] ?? id], state.pending)
        }
        return cipher.map { ViewedItem(Item($0, keys: keys), Self.mark(of: $0.id, pending)) }
    }

    private static func mark(of id: String?, _ pending: [StoredChange]) -> SyncMark {
        let own = pending.filter { $0.summary.lane.cipherID == id }
        guard let first = own.first else { return .clean }
        let isAside = own.contains { $0.summary.state == .quarantined }
        return SyncMark(
            isAside ? .quarantined : .pending,
            changes: own.map(\.summary.type),
            since: first.summary.created
        )
    }

    func folders() async throws(DeskRefusal) -> [ViewedFolder] {
        state.withLock { $0.folders.map { ViewedFolder(id: $0.key, name: $0.value) } }
    }

    func collections() async throws(DeskRefusal) -> [ViewedCollection] {
        state.withLock(\.collections)
    }

    func organizations() async throws(DeskRefusal) -> [Membership] {
        state.withLock(\.memberships)
    }

    func sends() async throws(DeskRefusal) -> [ViewedSend] {
        state.withLock { Array($0.sends.values) }.map(\.viewed)
    }

    // MARK: Editing

    func add(_ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem> {
        let id = entropy.identifier()
        let cipher: Cipher
        do throws(EditRefusal) {
            cipher = try Cipher(
                creating: body,
                id: id,
                at: clock.moment(),
                keys: keys,
                entropy: entropy
            )
        } catch {
            throw .unfit(error)
        }
        return finished(.create, cipher)
    }

    func update(_ id: String, _ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem> {
        guard let old = viewed(id)?.item, let id = old.id else { throw .notFound }
        guard !old.cipher.isInTrash else { throw .inTrash }
        let moved = state.withLock { $0.movedElsewhere[id] }
        if let moved, let seen = body.revision?.moment, seen < moved {
            throw .upstream(.outOfDate)
        }
        let edited: Edited
        do throws(EditRefusal) {
            edited = try old.edited(by: body, at: clock.moment(), keys: keys, entropy: entropy)
        } catch {
            throw .unfit(error)
        }
        return finished(.update, edited.cipher.with("revisionDate", clock.moment().text))
    }

    func trash(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        try stamp(id, .softDelete, ["deletedDate": clock.moment().text])
    }

    func restore(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        guard let cipher = viewed(id)?.item.cipher else { throw .notFound }
        guard cipher.isInTrash || cipher.archivedDate != nil else { throw .notInTrash }
        return try stamp(id, .other, ["deletedDate": nil, "archivedDate": nil])
    }

    func archive(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        guard let cipher = viewed(id)?.item.cipher else { throw .notFound }
        guard !cipher.isInTrash else { throw .trashedToArchive }
        guard cipher.archivedDate == nil else { throw .archivedAlready }
        guard try await outline.isPremium else { throw .premium }
        return try stamp(id, .other, ["archivedDate": clock.moment().text])
    }

    func delete(_ id: String) async throws(DeskRefusal) -> Written<Void> {
        guard let cipher = viewed(id)?.item.cipher, let id = cipher.id else { throw .notFound }
        let place = keep(.hardDelete, id) { $0.ciphers[id] = nil }
        return Written((), place)
    }

    private func stamp(
        _ id: String,
        _ type: ChangeType,
        _ dates: [String: String?]
    ) throws(DeskRefusal) -> Written<Void> {
        guard var cipher = viewed(id)?.item.cipher else { throw .notFound }
        for (name, date) in dates { cipher = cipher.with(name, date) }
        return Written((), finished(type, cipher).disposition)
    }

    private func finished(_ type: ChangeType, _ cipher: Cipher) -> Written<ViewedItem> {
        let id = cipher.id ?? ""
        let place = keep(type, id) { $0.ciphers[id] = cipher }
        guard let viewed = viewed(id) else { preconditionFailure("It was put there.") }
        return Written(viewed, place)
    }

    /// Makes the change, and what is pending because of it if upstream is away.
    private func keep(
        _ type: ChangeType,
        _ cipherID: String,
        _ make: (inout State) -> Void
    ) -> Disposition {
        let (changeID, receiptID, now) = (
            entropy.identifier(), entropy.identifier(), clock.moment()
        )
        let isAway = state.withLock { state in
            make(&state)
            guard state.isAway else { return false }
            let change = StoredChange.still(
                type,
                changeID,
                Lane(userID: id, cipherID: cipherID),
                now
            )
            state.pending.append(change)
            state.receipts[receiptID] = .still(receiptID, change)
            return true
        }
        guard isAway else { return .saved }
        announce(.pending(Lane(userID: id, cipherID: cipherID), changeID: changeID))
        return .queued(receiptID: receiptID)
    }

    // MARK: Online only

    func requireUpstream(_ operation: String) throws(DeskRefusal) {
        guard state.withLock(\.isAway) else { return }
        throw .upstream(Setback(.unreachable(.tried("nobody answers")), operation: operation))
    }

    func setCollections(
        of id: String,
        to collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        try requireUpstream("set collections")
        guard let cipher = viewed(id)?.item.cipher else { throw .notFound }
        return finished(.update, cipher.with("collectionIds", collectionIDs)).value
    }

    func share(
        _ id: String,
        with organizationID: String,
        in collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        try requireUpstream("share cipher")
        guard let cipher = viewed(id)?.item.cipher else { throw .notFound }
        let shared = cipher.with("organizationId", organizationID)
        return finished(.update, shared.with("collectionIds", collectionIDs)).value
    }

    func addFolder(named name: String) async throws(DeskRefusal) -> ViewedFolder {
        try requireUpstream("create folder")
        let id = entropy.identifier()
        state.withLock { $0.folders[id] = name }
        return ViewedFolder(id: id, name: name)
    }

    func renameFolder(_ id: String, to name: String) async throws(DeskRefusal) -> ViewedFolder {
        try requireUpstream("rename folder")
        state.withLock { $0.folders[id] = name }
        return ViewedFolder(id: id, name: name)
    }

    func deleteFolder(_ id: String) async throws(DeskRefusal) {
        try requireUpstream("delete folder")
        state.withLock { state in
            state.folders[id] = nil
            state.ciphers = state.ciphers.mapValues {
                $0.folderID == id ? $0.with("folderId", String?.none) : $0
            }
        }
    }

    func attach(
        _ file: [UInt8],
        named name: String,
        to itemID: String
    ) async throws(DeskRefusal) -> ViewedItem {
        try requireUpstream("attach")
        guard let cipher = viewed(itemID)?.item.cipher else { throw .notFound }
        let id = entropy.identifier().filter { $0 != "-" }
        let attached = cipher.adding(attachment: id, name, file.count, keys)
        state.withLock { $0.files[id] = file }
        return finished(.update, attached).value
    }

    func attachment(_ id: String, of itemID: String) async throws(DeskRefusal) -> [UInt8] {
        guard let file = state.withLock({ $0.files[id] }) else { throw .notFound }
        return file
    }

    func deleteAttachment(_ id: String, of itemID: String) async throws(DeskRefusal) {
        try requireUpstream("delete attachment")
        guard let cipher = viewed(itemID)?.item.cipher else { throw .notFound }
        _ = finished(.update, cipher.with("attachments", [String]()))
        state.withLock { $0.files[id] = nil }
    }

    // MARK: Sends

    func addSend(_ draft: SendDraft) async throws(DeskRefusal) -> ViewedSend {
        try requireUpstream("create send")
        let send = StillSend(id: entropy.identifier(), draft: draft, revision: clock.moment())
        state.withLock { $0.sends[send.id] = send }
        return send.viewed
    }

    func updateSend(_ id: String, _ draft: SendDraft) async throws(DeskRefusal) -> ViewedSend {
        try requireUpstream("update send")
        let send = StillSend(id: id, draft: draft, revision: clock.moment())
        state.withLock { $0.sends[id] = send }
        return send.viewed
    }

    func removeSendPassword(_ id: String) async throws(DeskRefusal) -> ViewedSend {
        try requireUpstream("remove password of send")
        guard var send = state.withLock({ $0.sends[id] }) else { throw .notFound }
        send.draft.password = nil
        let bare = send
        state.withLock { $0.sends[id] = bare }
        return bare.viewed
    }

    func deleteSend(_ id: String) async throws(DeskRefusal) {
        try requireUpstream("delete send")
        state.withLock { $0.sends[id] = nil }
    }

    // MARK: The queue

    var heldUntil: Moment? { state.withLock(\.heldUntil) }

    func pending() async throws(DeskRefusal) -> [StoredChange] { state.withLock(\.pending) }

    func pendingChange(_ id: String) async throws(DeskRefusal) -> StoredChange? {
        state.withLock { $0.pending.first { $0.summary.id == id } }
    }

    func retry(_ changeID: String) async throws(DeskRefusal) -> StoredChange? {
        state.withLock { state in
            if !state.isAway { state.pending.removeAll { $0.summary.id == changeID } }
            return state.pending.first { $0.summary.id == changeID }
        }
    }

    func saveCopy(_ changeID: String) async throws(DeskRefusal) -> Written<ViewedItem> {
        let change = state.withLock { $0.pending.first { $0.summary.id == changeID } }
        guard let cipherID = change?.summary.lane.cipherID,
            let cipher = viewed(cipherID)?.item.cipher
        else { throw .notFound }
        try await discard(changeID)
        return finished(.create, cipher.with("id", entropy.identifier()))
    }

    func discard(_ changeID: String) async throws(DeskRefusal) {
        state.withLock { $0.pending.removeAll { $0.summary.id == changeID } }
    }

    func receipt(_ id: String) async throws(DeskRefusal) -> Receipt? {
        state.withLock { $0.receipts[id] }
    }

    func resolutions(
        since moment: Moment?,
        limit: Int
    ) async throws(DeskRefusal) -> [ResolutionEntry] {
        let entries = state.withLock(\.resolutions)
        let late = entries.filter { entry in moment.map { entry.note.moment >= $0 } ?? true }
        return Array(late.suffix(limit).reversed())
    }
}
