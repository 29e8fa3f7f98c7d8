internal import System

/// One call of those that bring a wish about.
public enum Deed: Hashable, Sendable {
    case restore
    case content
    case archive
    case unarchive
    case place(folderID: String?, isFavourite: Bool)
    case trash
    case delete

    public var attempt: Attempt.Kind {
        switch self {
        case .restore: .restore
        case .content: .update
        case .archive: .archive
        case .unarchive: .unarchive
        case .place: .partial
        case .trash: .trash
        case .delete: .hardDelete
        }
    }
}

/// The state in which upstream has an item, beside its content.
public struct ItemState: Hashable, Sendable {
    public var isTrashed: Bool
    public var isArchived: Bool
    public var folderID: String?
    public var isFavourite: Bool
    /// Whether upstream has just said so. What is only remembered keeps nothing from being asked for.
    public var isCertain: Bool

    public init(_ cipher: Cipher, isCertain: Bool) {
        isTrashed = cipher.isInTrash
        isArchived = cipher.isArchived
        folderID = cipher.folderID
        isFavourite = cipher.isFavorite
        self.isCertain = isCertain
    }
}

extension Intent {
    /// What is to be done next, in a fixed order: each step may safely be repeated, and whoever is
    /// stopped in between goes on from what upstream then holds.
    ///
    /// A restore goes first, because content that is written into the trash is gone with the trash;
    /// the trash goes last, because content that comes after it would be lost to whoever restores it.
    ///
    /// - Parameter wasArchived: Whether the item was in the archive when this was wished; then its content only
    ///   says so, too.
    public func nextDeed(
        over state: ItemState,
        holdsContent: Bool,
        wasArchived: Bool = false,
        done: Set<Deed>
    ) -> Deed? {
        if self == .hardDelete { return done.contains(.delete) ? nil : .delete }
        let deeds: [Deed?] = [
            restoring(state, holdsContent), holdsContent || snapshot == nil ? nil : .content,
            archiving(state, wasArchived), placing(state), trashing(state),
        ]
        return deeds.lazy.compactMap { $0 }.first { !done.contains($0) }
    }

    private func restoring(_ state: ItemState, _ holdsContent: Bool) -> Deed? {
        if trash == .restored, !state.isCertain { return .restore }
        guard state.isTrashed, !mutated(.pushesIntoTrash) else { return nil }
        // Whoever edited it in the trash wants it to stay there.
        let writes = !holdsContent && trash != .trashed && snapshot?.isTrashed == false
        return writes || trash == .restored ? .restore : nil
    }

    private func archiving(_ state: ItemState, _ wasArchived: Bool) -> Deed? {
        guard let wanted = isToBeArchived(wasArchived),
            !state.isCertain || wanted != state.isArchived
        else { return nil }
        return wanted ? .archive : .unarchive
    }

    private func placing(_ state: ItemState) -> Deed? {
        let folderID: String? =
            switch adjustments.folder {
            case Optional.none: state.folderID
            case .some(Adjustments.Folder.none): nil
            case .some(.id(let id)): id
            }
        let isFavourite = adjustments.isFavourite ?? state.isFavourite
        let isWanted = adjustments.folder != nil || adjustments.isFavourite != nil
        let differs = folderID != state.folderID || isFavourite != state.isFavourite
        guard isWanted, differs || !state.isCertain else { return nil }
        return .place(folderID: folderID, isFavourite: isFavourite)
    }

    private func trashing(_ state: ItemState) -> Deed? {
        trash == .trashed && !mutated(.forgetsTrash) && !(state.isTrashed && state.isCertain)
            ? .trash : nil
    }
}
