internal import Crypto
internal import JSON
public import Vault

/// An item as the vault shows it: what upstream last said, and over it what the user wants.
public struct ViewedItem: Sendable {
    public let item: Item
    public let mark: SyncMark

    public init(_ item: Item, _ mark: SyncMark) {
        self.item = item
        self.mark = mark
    }
}

/// Where an edit is now.
public enum Disposition: Hashable, Sendable {
    /// Upstream has it, or there was nothing to send.
    case saved
    case queued(receiptID: String)
}

/// What an edit came to.
public struct Written<Value: Sendable>: Sendable {
    public let value: Value
    public let disposition: Disposition

    public init(_ value: Value, _ disposition: Disposition) {
        self.value = value
        self.disposition = disposition
    }

    public func map<Other: Sendable>(_ transform: (Value) -> Other) -> Written<Other> {
        Written<Other>(transform(value), disposition)
    }
}

/// What an edit made.
struct Made: Sendable {
    let cipherID: String
    /// What the owner sees now, where the edit told it already.
    var overlay: Overlay?
    /// What upstream has, where the disk did not take it down.
    var unwritten: Cipher?
}

/// What the user wants of a cipher, laid over what upstream last said of it.
struct Overlay: Sendable {
    let foundation: Cipher?
    let change: PendingChange
    /// What of it counts.
    private let intent: Intent

    init(foundation: Cipher?, change: PendingChange, waiting: PendingChange? = nil) {
        self.foundation = foundation
        self.change = change
        intent = (waiting ?? change.withoutIdleContent).intent
    }

    /// What the owner sees; nil if nothing is to be seen.
    var cipher: Cipher? {
        switch intent {
        case .create(let snapshot, _): return laid(over: try? Cipher(snapshot.json))
        case .update(let snapshot, let trash, _):
            let content = laid(over: withFiles(snapshot))
            return trash == nil ? content?.trashed(like: foundation) : content
        case .softDelete(let snapshot?, _): return laid(over: withFiles(snapshot))
        case .softDelete(nil, _), .other: return laid(over: ground)
        case .hardDelete: return nil
        }
    }

    private func withFiles(_ snapshot: Snapshot) -> Cipher? {
        guard let content = try? Cipher(snapshot.json) else { return nil }
        return foundation.map { content.withFiles(of: $0) } ?? content
    }

    private func laid(over cipher: Cipher?) -> Cipher? {
        cipher?.overlaid(
            id: change.cipherID,
            trash: change.intent.trash,
            change.intent.adjustments,
            at: change.updated
        )
    }

    /// What upstream holds, or held when it was last edited here: it may have been deleted there since.
    private var ground: Cipher? {
        foundation ?? change.agreed
    }

    var mark: SyncMark {
        let type = change.type
        let carriesContent = change.intent.snapshot != nil && type == .softDelete
        return SyncMark(
            change.state == .quarantined ? .quarantined : .pending,
            changes: (carriesContent ? [.update] : []) + [type] + (carriesMore ? [.other] : []),
            since: change.created
        )
    }

    /// Whether something without a type of its own goes along: into the archive or out of it, or out of the trash.
    private var carriesMore: Bool {
        let intent = change.intent
        guard change.type != .other else { return false }
        if intent.adjustments.isArchived != nil || intent.trash == .restored { return true }
        return intent.snapshot?.isArchived == true && ground?.isArchived == false
    }

    func viewed(_ keys: KeyRing) -> ViewedItem? {
        cipher.map { ViewedItem(Item($0, keys: keys), mark) }
    }
}

/// Both layers of a cipher.
package struct Layers: Sendable {
    /// Under the id that the cipher has now.
    let lane: Lane
    package let base: BaseCipher?
    package let pending: StoredChange?
    /// What upstream last said.
    let foundation: Cipher?
    /// What of the pending change counts.
    let waiting: PendingChange?
    /// The disk gave back something else than was written.
    let isDamaged: Bool

    /// What the disk did not give back as it was written is neither shown nor sent.
    init(_ lane: Lane, base: BaseCipher?, pending: StoredChange?) {
        self.lane = lane
        isDamaged = base?.isDamaged == true
        self.base = isDamaged ? nil : base
        self.pending = pending
        foundation = self.base.flatMap { try? Cipher($0.json) }
        waiting = pending?.change?.withoutIdleContent
    }

    /// What the owner sees; nil if nothing is to be seen.
    var cipher: Cipher? {
        guard let change = pending?.change else { return foundation }
        return Overlay(foundation: foundation, change: change, waiting: waiting).cipher
    }

    /// A record that cannot be read is set aside, and what it wants is known by its type alone.
    var mark: SyncMark {
        guard let pending else { return .clean }
        if let change = pending.change {
            return Overlay(foundation: nil, change: change, waiting: waiting).mark
        }
        let summary = pending.summary
        return SyncMark(.quarantined, changes: [summary.type], since: summary.created)
    }

    package var seen: Seen { Seen(pending?.summary, base: base) }

    /// An item whose copy is damaged is shown as one that cannot be read, and not as one that is gone.
    func viewed(_ keys: KeyRing) -> ViewedItem? {
        let stand = isDamaged && pending == nil ? Cipher(unreadable: lane.cipherID) : nil
        return (cipher ?? stand).map { ViewedItem(Item($0, keys: keys), mark) }
    }
}

extension Cipher {
    /// Nothing is known of it but its id. A name that no key opens is shown as that.
    fileprivate init?(unreadable id: String) {
        let json = JSON.Raw.object {
            $0.add("id", id)
            $0.add("type", 2)
            $0.add("name", "2.damaged")
            $0.object("secureNote") { $0.add("type", 0) }
        }
        try? self.init(json)
    }
}

extension Cipher {
    /// Content that says nothing of the trash is where upstream has the item.
    fileprivate func trashed(like other: Cipher?) -> Cipher {
        guard let other, other.isInTrash != isInTrash, let id else { return self }
        let date = other.deletedDate.flatMap { Revision($0) }?.moment
        let wish: Intent.TrashWish = other.isInTrash ? .trashed : .restored
        return overlaid(id: id, trash: wish, .none, at: date ?? Moment(ticks: 0))
    }
}
