public import Bitwarden
public import Crypto
public import Sync
public import Vault

/// One account, as the API asks for it.
///
/// Whatever cannot be done is a ``DeskRefusal`` with the words that clients know. Reads answer from
/// what is here, whatever the network does.
public protocol AccountDesk: Sendable {
    var id: String { get }
    var standing: AccountStanding { get async throws(DeskRefusal) }
    /// As much of it as costs nothing, for the many who want to know no more than that.
    var outline: AccountOutline { get async throws(DeskRefusal) }
    /// What is known of the way to its server, and since when.
    var reach: (state: NetworkState, since: Moment) { get }
    /// The outline's.
    var status: AccountStanding.Status { get async throws(DeskRefusal) }
    /// Sites of one owner, whose logins are good for each other, as the account has them.
    var equivalentDomains: [[String]] { get async throws(DeskRefusal) }

    // Keys.

    /// Works without a network once the account has been here. A wrong password changes nothing.
    func unlock(_ password: consuming Secret) async throws(DeskRefusal)
    func lock() async
    func sync(isForced: Bool) async throws(DeskRefusal) -> SyncReport
    /// Five words of the public key of the user.
    func fingerprint() async throws(DeskRefusal) -> String
    /// The same of somebody else, whose key upstream has.
    func fingerprint(of userID: String) async throws(DeskRefusal) -> String

    // What is in the vault; throws while that is locked.

    /// All of it, the trash and the archive too, in no order.
    func items() async throws(DeskRefusal) -> [ViewedItem]
    /// By id, of whatever age: an id that was made offline answers for ever.
    func item(_ id: String) async throws(DeskRefusal) -> ViewedItem?
    func folders() async throws(DeskRefusal) -> [ViewedFolder]
    func collections() async throws(DeskRefusal) -> [ViewedCollection]
    func organizations() async throws(DeskRefusal) -> [Membership]
    func sends() async throws(DeskRefusal) -> [ViewedSend]

    // Edits; kept if they cannot be sent.

    /// An edit was refused before it came here.
    func noteRefused(_ operation: SyncMetrics.Operation)
    func add(_ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem>
    func update(_ id: String, _ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem>
    func trash(_ id: String) async throws(DeskRefusal) -> Written<Void>
    func delete(_ id: String) async throws(DeskRefusal) -> Written<Void>
    func restore(_ id: String) async throws(DeskRefusal) -> Written<Void>
    func archive(_ id: String) async throws(DeskRefusal) -> Written<Void>

    // What only upstream can do.

    func setCollections(
        of id: String,
        to collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem
    func share(
        _ id: String,
        with organizationID: String,
        in collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem
    func addFolder(named name: String) async throws(DeskRefusal) -> ViewedFolder
    func renameFolder(_ id: String, to name: String) async throws(DeskRefusal) -> ViewedFolder
    func deleteFolder(_ id: String) async throws(DeskRefusal)
    func attach(
        _ file: [UInt8],
        named name: String,
        to itemID: String
    ) async throws(DeskRefusal) -> ViewedItem
    /// From the cache where it was fetched before.
    func attachment(_ id: String, of itemID: String) async throws(DeskRefusal) -> [UInt8]
    func deleteAttachment(_ id: String, of itemID: String) async throws(DeskRefusal)
    func addSend(_ draft: SendDraft) async throws(DeskRefusal) -> ViewedSend
    func updateSend(_ id: String, _ draft: SendDraft) async throws(DeskRefusal) -> ViewedSend
    func removeSendPassword(_ id: String) async throws(DeskRefusal) -> ViewedSend
    func deleteSend(_ id: String) async throws(DeskRefusal)

    // The queue.

    /// Before this nothing of it is sent, because of a failure or because upstream asked for it.
    var heldUntil: Moment? { get }
    /// Oldest first.
    func pending() async throws(DeskRefusal) -> [StoredChange]
    func pendingChange(_ id: String) async throws(DeskRefusal) -> StoredChange?
    /// - Returns: The change as it is after it was tried; nil if nothing of it is pending any more.
    func retry(_ changeID: String) async throws(DeskRefusal) -> StoredChange?
    /// - Returns: The new item that keeps the content.
    func saveCopy(_ changeID: String) async throws(DeskRefusal) -> Written<ViewedItem>
    func discard(_ changeID: String) async throws(DeskRefusal)
    func receipt(_ id: String) async throws(DeskRefusal) -> Receipt?
    func resolutions(
        since moment: Moment?,
        limit: Int
    ) async throws(DeskRefusal) -> [ResolutionEntry]
}

/// All accounts of this host.
public protocol Household: Sendable {
    /// In the order in which they came.
    var desks: [any AccountDesk] { get }
    /// What all accounts come to that can be asked.
    var summary: HouseholdSummary { get async }
    func desk(_ id: String) -> (any AccountDesk)?
    /// The one that the routes without an account mean: the only one, or the one that was chosen.
    var defaultDesk: (any AccountDesk)? { get }

    /// Signs in upstream, unlocks, and fetches everything. An account that is here already takes up
    /// where it was.
    func signIn(_ request: SignInRequest) async throws(DeskRefusal) -> any AccountDesk
    func makeDefault(_ id: String) async throws(DeskRefusal)
    /// Where its server is now, be it the same one.
    func setServer(_ address: String, of id: String) async throws(DeskRefusal)
    /// Signs out and erases the account. Refused while changes are pending, unless they are to go too.
    func remove(_ id: String, discardingPending: Bool) async throws(DeskRefusal)

    var network: NetworkStanding { get }
    /// For drills: whether every upstream is to count as unreachable.
    ///
    /// - Returns: How the network stands then.
    @discardableResult
    func setDrill(_ isOn: Bool) async -> NetworkStanding
    /// What happens, for a client that listens, for as long as the body runs; from the event after that number on,
    /// as far as it is remembered. What stands for all that is not is told only if it is heard.
    func listen(
        after number: Int?,
        where isHeard: (MeshEvent) -> Bool,
        _ body: (AsyncStream<NumberedEvent>) async throws -> Void
    ) async throws
}
