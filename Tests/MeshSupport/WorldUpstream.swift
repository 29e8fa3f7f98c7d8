import Bitwarden
public import Host
import JSON
public import Sync
import System
public import Vault

/// What the mesh needs of an upstream, over the host's own client.
public struct WorldUpstream: VaultUpstream {
    public let account: UpstreamAccount
    private let patience: Duration
    private let wire: Wire?

    /// - Parameter patience: How long to wait for a turn. Where time stands still, nobody does.
    public init(account: UpstreamAccount, patience: Duration = .zero, wire: Wire? = nil) {
        (self.account, self.patience, self.wire) = (account, patience, wire)
    }

    public func requireSameAccount(_ urgency: Urgency) async throws(Setback) -> Bool {
        try await wire?.askForAccount()
        return false
    }

    private func asking(_ urgency: Urgency) -> UpstreamAccount {
        account.asking {
            $0.patience = patience
            $0.isForced = urgency == .insistent
            $0.deadline = urgency == .interactive ? .seconds(15) : nil
        }
    }

    public var ofThisSession: any VaultUpstream {
        WorldUpstream(account: account.ofThisSession, patience: patience, wire: wire)
    }

    public var leastClockOffset: Int64? { account.upstream.leastClockOffset }

    public func cipher(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await asking(urgency).cipher(id)
    }

    public func create(_ request: [UInt8], _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await asking(urgency).create(request)
    }

    public func create(
        _ request: [UInt8],
        in collectionIDs: [String],
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher {
        try await asking(urgency).create(request, in: collectionIDs)
    }

    public func update(
        _ id: String,
        _ request: [UInt8],
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher {
        try await asking(urgency).update(id, request)
    }

    public func adjust(
        _ id: String,
        folderID: String?,
        isFavourite: Bool,
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher {
        let request = PartialRequest(folderID: folderID, isFavorite: isFavourite)
        return try await asking(urgency).update(id, request)
    }

    public func trash(_ id: String, _ urgency: Urgency) async throws(Setback) {
        try await asking(urgency).trash(id)
    }

    public func restore(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await asking(urgency).restore(id)
    }

    public func delete(_ id: String, _ urgency: Urgency) async throws(Setback) {
        try await asking(urgency).delete(id)
    }

    public func archive(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await asking(urgency).archive(id)
    }

    public func unarchive(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await asking(urgency).unarchive(id)
    }

    public func hasFolder(_ id: String, _ urgency: Urgency) async throws(Setback) -> Bool {
        try await asking(urgency).hasFolder(id)
    }

    public func revision(_ urgency: Urgency) async throws(Setback) -> Int64? {
        try await asking(urgency).revision().number
    }

    public func fetch(
        _ urgency: Urgency,
        asOf revision: Int64?
    ) async throws(Setback) -> Fetched {
        let fetched = try await asking(urgency).sync(asOf: AccountRevision(revision))
        let userID = account.session.userID
        var ciphers: [BaseCipher] = []
        for piece in fetched.answer.ciphers {
            guard let cipher = try? Cipher(piece.raw), let base = BaseCipher(cipher, of: userID)
            else { continue }
            ciphers.append(base)
        }
        var slices = [BaseSlice(.profile, json: Array(fetched.answer.profileText.bytes))]
        for folder in fetched.answer.folders {
            let json = Array(folder.raw.bytes)
            slices.append(BaseSlice(.folder, id: folder["id"]?.string ?? "", json: json))
        }
        return Fetched(
            picture: fetched.picture,
            ciphers: ciphers,
            slices: slices,
            isWhole: ciphers.count == fetched.answer.ciphers.count
        )
    }

    public func switches(_ urgency: Urgency) async throws(Setback) -> Switches { .on }
}
