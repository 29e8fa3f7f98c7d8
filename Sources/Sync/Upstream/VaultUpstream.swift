public import Vault

/// What the mesh needs of an upstream, as one account's user sees it there.
///
/// Every call ends in upstream's answer or in a typed ``Vault/Setback``; what was found out about the
/// network on the way has been told to its monitor by whoever stands behind this.
public protocol VaultUpstream: Sendable {
    /// How much upstream's clock is ahead of ours at least, in ticks; nil while no answer told.
    var leastClockOffset: Int64? { get }

    func cipher(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher
    /// Upstream chooses the id. After an unknown outcome it has to be looked for.
    func create(_ request: [UInt8], _ urgency: Urgency) async throws(Setback) -> Cipher
    /// The same of an item of an organisation, which is in collections.
    func create(
        _ request: [UInt8],
        in collectionIDs: [String],
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher
    func update(
        _ id: String,
        _ request: [UInt8],
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher
    /// Folder and favourite, which are the user's own.
    func adjust(
        _ id: String,
        folderID: String?,
        isFavourite: Bool,
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher
    func trash(_ id: String, _ urgency: Urgency) async throws(Setback)
    func restore(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher
    func delete(_ id: String, _ urgency: Urgency) async throws(Setback)
    func archive(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher
    func unarchive(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher
    func hasFolder(_ id: String, _ urgency: Urgency) async throws(Setback) -> Bool

    /// The number by which upstream tells that anything of the account has changed; nil if it has
    /// none to tell.
    func revision(_ urgency: Urgency) async throws(Setback) -> Int64?
    /// All of the account, and its number before that, so that a change in between is not missed.
    func fetch(_ urgency: Urgency) async throws(Setback) -> Fetched
    /// All of the account.
    ///
    /// - Parameter revision: The number, if it was asked for just before.
    func fetch(_ urgency: Urgency, asOf revision: Int64?) async throws(Setback) -> Fetched
    /// The switches that upstream has set for its clients.
    func switches(_ urgency: Urgency) async throws(Setback) -> Switches

    /// Asks whose account it is, unless upstream has just told. If its keys are others than those that are here, the
    /// session is over; any other trouble is for whoever sends something to find out.
    ///
    /// - Returns: Whether it has told that just now.
    @discardableResult
    func requireSameAccount(_ urgency: Urgency) async throws(Setback) -> Bool
    /// Upstream may have told something while nobody listened.
    func doubtAccount()

    /// The same until somebody signs in anew: what was prepared with the keys of one session is not
    /// sent with another, because the account may have got a new key in between. It is cancelled.
    var ofThisSession: any VaultUpstream { get }
}

extension VaultUpstream {
    public func fetch(_ urgency: Urgency) async throws(Setback) -> Fetched {
        try await fetch(urgency, asOf: revision(urgency))
    }

    public func requireSameAccount(_ urgency: Urgency) async throws(Setback) -> Bool { false }
    public func doubtAccount() {}
    public var ofThisSession: any VaultUpstream { self }
}

/// How much somebody wants an answer.
public enum Urgency: Hashable, Sendable {
    /// A run of its own accord: waits for its turn, and takes the time it takes.
    case patient
    /// Somebody's request is open meanwhile: it is given up after 15 seconds.
    case interactive
    /// Somebody insists: also where the network seems to be gone. Never before the time that
    /// upstream itself has set.
    case insistent
}

/// Everything that upstream holds of an account, ready to be kept.
public struct Fetched: Sendable {
    /// What decides whether it is believed.
    public let picture: SyncPicture
    public let ciphers: [BaseCipher]
    public let slices: [BaseSlice]
    /// Whether everything in its list of ciphers is one, with an id and a stamp.
    public let isWhole: Bool

    public init(
        picture: SyncPicture,
        ciphers: [BaseCipher],
        slices: [BaseSlice],
        isWhole: Bool = true
    ) {
        self.picture = picture
        self.ciphers = ciphers
        self.slices = slices
        self.isWhole = isWhole
    }

    /// What cannot be read of the list may be any of those that are missing in it, so these stand as they were.
    func completed(by known: [BaseCipher]) -> Fetched {
        let listed = Set(ciphers.map(\.lane.cipherID))
        let missing = known.filter { !listed.contains($0.lane.cipherID) }
        let stamps = missing.map { ($0.lane.cipherID, $0.revision.moment) }
        return Fetched(
            picture: picture.standing(Dictionary(stamps) { $1 }),
            ciphers: ciphers + missing,
            slices: slices,
            isWhole: false
        )
    }
}
