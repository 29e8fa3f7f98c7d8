/// What the user wants of one cipher and upstream has not yet accepted.
///
/// A set of wishes rather than a list of operations: pushing them is a restore, then the content,
/// then the archive, the folder and the favourite, then the trash or the deletion, each of which may
/// safely be repeated. A create or an update without content cannot be written down.
public enum Intent: Hashable, Sendable {
    /// Upstream has never seen the cipher.
    case create(Snapshot, Adjustments)
    case update(Snapshot, trash: TrashWish?, Adjustments)
    /// Into the trash, after the content if there is some.
    case softDelete(Snapshot?, Adjustments)
    case hardDelete
    /// No content, and not into the trash.
    case other(restores: Bool, Adjustments)

    public enum TrashWish: String, CaseIterable, Hashable, Sendable {
        case trashed
        case restored
    }

    public var type: ChangeType {
        switch self {
        case .create: .create
        case .update: .update
        case .softDelete: .softDelete
        case .hardDelete: .hardDelete
        case .other: isPlace ? .update : .other
        }
    }

    /// What the store calls it.
    public var typeText: String { isPlace ? ChangeType.placeText : type.rawValue }

    /// Whether that is, or once was, what the store calls it.
    public func isCalled(_ text: String) -> Bool {
        text == typeText || isPlace && text == ChangeType.other.rawValue
    }

    /// An update of folder or favourite alone.
    private var isPlace: Bool {
        guard case .other(restores: false, let adjustments) = self else { return false }
        return adjustments.isArchived == nil
            && (adjustments.folder != nil || adjustments.isFavourite != nil)
    }

    public var snapshot: Snapshot? {
        switch self {
        case .create(let snapshot, _), .update(let snapshot, _, _): snapshot
        case .softDelete(let snapshot, _): snapshot
        case .hardDelete, .other: nil
        }
    }

    /// What is left of it without a trash, or content, that gives way; nil if that is nothing.
    ///
    /// - Parameter wasArchived: Before anything was wished.
    func besides(wasArchived: Bool) -> Intent? {
        switch self {
        case .softDelete(nil, let adjustments): return .other(restores: false, adjustments)
        case .update(_, let trash, var adjustments):
            adjustments.isArchived = isToBeArchived(wasArchived)
            return .other(restores: trash == .restored, adjustments)
        case .create, .softDelete(.some, _), .hardDelete, .other: return nil
        }
    }

    /// Whether it is to go into the archive, or out of it; nil if that is not wished. An edit of what was archived since
    /// says so itself.
    func isToBeArchived(_ wasArchived: Bool) -> Bool? {
        let isWritten = snapshot?.isArchived == true && !wasArchived
        return adjustments.isArchived ?? (isWritten ? true : nil)
    }

    public var adjustments: Adjustments {
        switch self {
        case .create(_, let adjustments), .update(_, _, let adjustments): adjustments
        case .softDelete(_, let adjustments), .other(_, let adjustments): adjustments
        case .hardDelete: .none
        }
    }

    public var trash: TrashWish? {
        switch self {
        case .update(_, let trash, _): trash
        case .softDelete: .trashed
        case .other(let restores, _): restores ? .restored : nil
        case .create, .hardDelete: nil
        }
    }

    /// Whether a call of that kind, carried out after all that is wished, would undo a part of it. Content says
    /// what it was made on, so upstream can tell when it comes late.
    public func isUndone(by kind: Attempt.Kind) -> Bool {
        let isArchived = adjustments.isArchived ?? snapshot?.isArchived
        return switch kind {
        case .create, .update, .backup: false
        case .trash: self != .hardDelete && trash != .trashed
        case .restore: trash == .trashed
        case .archive: self != .hardDelete && (isArchived != true || trash == .trashed)
        case .unarchive: self != .hardDelete && isArchived != false
        // Content carries its place, too.
        case .partial:
            snapshot != nil || adjustments.folder != nil || adjustments.isFavourite != nil
        case .share: snapshot != nil || adjustments != .none
        case .hardDelete: self != .hardDelete
        }
    }

    /// A wish for what waits already, and for nothing else; nil where that is content, a deletion, or nothing.
    public var again: Edit.Wish? {
        switch (adjustments.folder, adjustments.isFavourite, adjustments.isArchived, trash) {
        case (let folder?, let isFavourite?, _, _): .place(folder, isFavourite: isFavourite)
        case (let folder?, nil, _, _): .move(folder)
        case (nil, let isFavourite?, _, _): .favour(isFavourite)
        case (nil, nil, let isArchived?, _): isArchived ? .archive : .unarchive
        case (nil, nil, nil, .trashed): .trash
        case (nil, nil, nil, .restored): .restore
        case (nil, nil, nil, nil): nil
        }
    }

    /// Nothing is wished for.
    public static let nothing = Intent.other(restores: false, .none)
}

/// Wishes that go upstream by calls of their own, beside the content.
public struct Adjustments: Hashable, Sendable {
    /// Beside content it is set only where the content's own date does not bring it about.
    public var isArchived: Bool?
    public var folder: Folder?
    public var isFavourite: Bool?

    public enum Folder: Hashable, Sendable {
        case none
        case id(String)
    }

    public init(isArchived: Bool? = nil, folder: Folder? = nil, isFavourite: Bool? = nil) {
        self.isArchived = isArchived
        self.folder = folder
        self.isFavourite = isFavourite
    }

    public static let none = Adjustments()
}

extension Intent {
    /// The same wishes with other content.
    public func replacing(_ snapshot: Snapshot) -> Intent {
        replacing(snapshot, adjustments)
    }

    fileprivate func replacing(_ snapshot: Snapshot?, _ adjustments: Adjustments) -> Intent {
        switch self {
        case .create(let old, _): .create(snapshot ?? old, adjustments)
        case .update(let old, let trash, _): .update(snapshot ?? old, trash: trash, adjustments)
        case .softDelete(let old, _): .softDelete(old == nil ? nil : snapshot, adjustments)
        case .hardDelete: self
        case .other(let restores, _): .other(restores: restores, adjustments)
        }
    }
}

extension PendingChange {
    /// The folder is gone, so nobody can wish to have the item in it: it stays where it is, which others may
    /// have chosen meanwhile.
    ///
    /// - Returns: Whether that changes anything.
    public mutating func leaveFolder(_ id: String) -> Bool {
        var adjustments = intent.adjustments
        if adjustments.folder == .id(id) { adjustments.folder = nil }
        let content = intent.snapshot?.outside(id, like: agreedOutside(id))
        let left = intent.replacing(content, adjustments)
        defer { intent = left }
        return left != intent
    }

    /// The folders that it mentions.
    public var folderIDs: [String] {
        let content = intent.snapshot.flatMap { try? Cipher($0.json) }
        guard case .id(let id) = intent.adjustments.folder else {
            return [content?.folderID].compactMap(\.self)
        }
        return [id, content?.folderID].compactMap(\.self)
    }

    /// The same, should whatever folder it mentions be gone.
    public var outsideFolders: PendingChange {
        var left = self
        for id in folderIDs { _ = left.leaveFolder(id) }
        return left
    }
}

extension Snapshot {
    fileprivate func outside(_ folderID: String, like agreed: Cipher?) -> Snapshot {
        guard let cipher = try? Cipher(json), cipher.folderID == folderID else { return self }
        let moved = cipher.inFolder(agreed?.folderID)
        return Snapshot(json: moved.bytes, keyFingerprint: keyFingerprint)
    }
}
