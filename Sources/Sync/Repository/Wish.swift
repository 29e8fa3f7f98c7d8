public import Vault

extension Repository {
    /// What a client wants of the vault.
    public enum Wish: Sendable {
        case add(ItemBody)
        /// Adds an item that is encrypted already.
        case addCopy(Cipher)
        case update(String, ItemBody)
        case trash(String)
        case restore(String)
        case archive(String)
        case unarchive(String)
        case move(String, to: Adjustments.Folder)
        case favour(String, Bool)
        /// For good.
        case delete(String)
    }

    /// What has to be true of an item when the edit is made, and not only when somebody last looked.
    public enum Expectation: Hashable, Sendable {
        case anything
        /// The owner sees it, be it in the trash.
        case isSeen
        /// It is not in the trash either.
        case isLive
    }

    /// Why an edit is not made. Nothing has changed then.
    public enum Refusal: Error, Sendable {
        case locked
        /// There is no such item.
        case notFound
        /// It is in the trash, where nobody edits.
        case inTrash
        /// What was sent makes no item, or would do harm.
        case unfit(EditRefusal)
        /// The copy that was edited is older than what upstream holds by now.
        case outOfDate
        /// There is something pending about it that this version cannot read.
        case unreadable
        /// What is pending has no content that could be kept.
        case contentless
        /// Upstream does not want it, or it cannot be done without upstream.
        case upstream(Setback)
        /// It cannot be done without upstream, and cannot be sent as things are.
        case hindered(FailureNote)
        case store(StoreError)
        /// It is recorded, and a run brings it upstream; but the disk did not take down what has come of it so
        /// far or, if there is no error, the host ended meanwhile.
        case unsettled(StoreError?)
        /// The host is ending, or has too much to do.
        case busy
    }
}

extension Repository.Wish {
    /// Nil for an item that has no id yet.
    var cipherID: String? {
        switch self {
        case .add, .addCopy: nil
        case .update(let id, _), .trash(let id), .restore(let id), .archive(let id),
            .unarchive(let id), .move(let id, _), .favour(let id, _), .delete(let id):
            id
        }
    }

    /// Whether it takes away what is there, and the client does not name the stamp of what they have seen of it.
    var isBlind: Bool {
        switch self {
        case .update(_, let body): body.revision == nil
        case .delete: true
        case .add, .addCopy, .trash, .restore, .archive, .unarchive, .move, .favour: false
        }
    }

    var operation: SyncMetrics.Operation {
        switch self {
        case .add, .addCopy: .create
        case .update, .move, .favour: .update
        case .trash: .softDelete
        case .restore: .restore
        case .delete: .hardDelete
        case .archive, .unarchive: .other
        }
    }
}
