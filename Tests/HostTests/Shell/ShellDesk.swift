import Bitwarden
import Crypto
import Sync
import Vault

@testable import Host

/// An account of which only the standing is known.
struct ShellDesk: AccountDesk {
    let known: AccountStanding

    init(_ known: AccountStanding) { self.known = known }

    var id: String { known.id }
    var standing: AccountStanding { get async throws(DeskRefusal) { known } }
    var reach: (state: NetworkState, since: Moment) { (known.network, Moment(ticks: 1)) }

    func unlock(_ password: consuming Secret) async throws(DeskRefusal) { throw .busy }
    func lock() async {}
    func sync(isForced: Bool) async throws(DeskRefusal) -> SyncReport { throw .busy }
    func fingerprint() async throws(DeskRefusal) -> String { throw .busy }
    func fingerprint(of userID: String) async throws(DeskRefusal) -> String { throw .busy }
    func items() async throws(DeskRefusal) -> [ViewedItem] { [] }
    func item(_ id: String) async throws(DeskRefusal) -> ViewedItem? { nil }
    func folders() async throws(DeskRefusal) -> [ViewedFolder] { [] }
    func collections() async throws(DeskRefusal) -> [ViewedCollection] { [] }
    func organizations() async throws(DeskRefusal) -> [Membership] { [] }
    func sends() async throws(DeskRefusal) -> [ViewedSend] { [] }
    func add(_ body: ItemBody) async throws(DeskRefusal) -> Written<ViewedItem> { throw .busy }
    func update(
        _ id: String,
        _ body: ItemBody
    ) async throws(DeskRefusal) -> Written<ViewedItem> { throw .busy }
    func trash(_ id: String) async throws(DeskRefusal) -> Written<Void> { throw .busy }
    func delete(_ id: String) async throws(DeskRefusal) -> Written<Void> { throw .busy }
    func restore(_ id: String) async throws(DeskRefusal) -> Written<Void> { throw .busy }
    func archive(_ id: String) async throws(DeskRefusal) -> Written<Void> { throw .busy }
    func setCollections(
        of id: String,
        to collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem { throw .busy }
    func share(
        _ id: String,
        with organizationID: String,
        in collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem { throw .busy }
    func addFolder(named name: String) async throws(DeskRefusal) -> ViewedFolder { throw .busy }
    func renameFolder(
        _ id: String,
        to name: String
    ) async throws(DeskRefusal) -> ViewedFolder { throw .busy }
    func deleteFolder(_ id: String) async throws(DeskRefusal) { throw .busy }
    func attach(
        _ file: [UInt8],
        named name: String,
        to itemID: String
    ) async throws(DeskRefusal) -> ViewedItem { throw .busy }
    func attachment(_ id: String, of itemID: String) async throws(DeskRefusal) -> [UInt8] { [] }
    func deleteAttachment(_ id: String, of itemID: String) async throws(DeskRefusal) {}
    func addSend(_ draft: SendDraft) async throws(DeskRefusal) -> ViewedSend { throw .busy }
    func updateSend(
        _ id: String,
        _ draft: SendDraft
    ) async throws(DeskRefusal) -> ViewedSend { throw .busy }
    func removeSendPassword(_ id: String) async throws(DeskRefusal) -> ViewedSend { throw .busy }
    func deleteSend(_ id: String) async throws(DeskRefusal) {}
    func pending() async throws(DeskRefusal) -> [StoredChange] { [] }
    func pendingChange(_ id: String) async throws(DeskRefusal) -> StoredChange? { nil }
    func retry(_ changeID: String) async throws(DeskRefusal) -> StoredChange? { nil }
    func saveCopy(_ changeID: String) async throws(DeskRefusal) -> Written<ViewedItem> {
        throw .busy
    }
    func discard(_ changeID: String) async throws(DeskRefusal) {}
    func receipt(_ id: String) async throws(DeskRefusal) -> Receipt? { nil }
    func resolutions(
        since moment: Moment?,
        limit: Int
    ) async throws(DeskRefusal) -> [ResolutionEntry] { [] }
}

/// What a stand-in says that has nothing of its own to say.
extension AccountDesk {
    var status: AccountStanding.Status {
        get async throws(DeskRefusal) { try await standing.status }
    }

    var outline: AccountOutline {
        get async throws(DeskRefusal) {
            let standing = try await standing
            return AccountOutline(
                id: standing.id,
                email: standing.email,
                server: standing.server,
                status: standing.status,
                lastSync: standing.lastSync,
                isPremium: standing.isPremium
            )
        }
    }

    var heldUntil: Moment? { nil }

    func noteRefused(_ operation: SyncMetrics.Operation) {}

    var equivalentDomains: [[String]] {
        get async throws(DeskRefusal) { [] }
    }
}

extension AccountStanding {
    static func sample(
        _ id: String,
        _ status: Status = .unlocked,
        network: NetworkState = .online,
        server: String = "https://vault.example",
        lastSync: Moment? = nil,
        pending: Pending = Pending()
    ) -> AccountStanding {
        AccountStanding(
            id: id,
            email: "\(id)@secret.example",
            server: server,
            status: status,
            isDefault: false,
            lastSync: lastSync,
            lastReport: nil,
            network: network,
            pending: pending,
            isPremium: false
        )
    }
}
