internal import System

/// What upstream holds or may hold of the cipher, as far as a fold depends on it.
struct Ground {
    /// Whether the cipher exists here only, and no create may have reached upstream.
    let isHereOnly: Bool
    let isUnborn: Bool
    let mayBeTrashed: Bool
    let mayBeArchived: Bool

    init(_ change: PendingChange, _ footing: Footing?) {
        isUnborn = change.isUnborn
        isHereOnly = change.isUnborn && !change.mayHaveLanded(.create)
        mayBeTrashed = footing?.isTrashed == true || change.mayHaveLanded(.trash)
        mayBeArchived =
            Self.isArchived(change, footing) || change.mayHaveLanded(.archive)
            || Self.mayHoldForgottenContent(change)
    }

    /// As whoever edits it has seen it: what is pending may hide that others have put it into the archive since.
    private static func isArchived(_ change: PendingChange, _ footing: Footing?) -> Bool {
        let agreed = change.hidesNothing ? nil : change.agreed
        return agreed?.isArchived ?? footing?.isArchived ?? false
    }

    /// A deletion forgets what content there was, and with it whether that was archived. Whoever takes
    /// the deletion back may find the content upstream all the same.
    private static func mayHoldForgottenContent(_ change: PendingChange) -> Bool {
        change.intent.snapshot == nil
            && (change.mayHaveLanded(.create) || change.mayHaveLanded(.update))
    }
}

extension PendingChange {
    enum Step {
        case take(Intent)
        /// Takes a cipher back that was to be deleted for good.
        case wake(Intent)
        case vanish
        case stay
        case refuse(Folding.Refusal)
    }

    /// The table of what follows what. Its rows are the wish, its columns what was pending.
    func step(for wish: Edit.Wish, ground: Ground) -> Step {
        switch wish {
        case .add(let snapshot): adding(snapshot, ground)
        case .update(let snapshot, _): updating(snapshot, ground)
        case .trash: trashing(ground)
        case .restore: restoring(ground)
        case .archive: adjusting { $0.isArchived = true }
        case .unarchive: adjusting { $0.isArchived = unarchived(ground) }
        case .move(let folder): adjusting { $0.folder = folder }
        case .favour(let isFavourite): adjusting { $0.isFavourite = isFavourite }
        case .place(let folder, let isFavourite):
            adjusting { ($0.folder, $0.isFavourite) = (folder, isFavourite) }
        case .hardDelete: deleting(ground)
        }
    }

    private func adding(_ snapshot: Snapshot, _ ground: Ground) -> Step {
        switch intent {
        case .create: .take(.create(snapshot, adjustments(beside: snapshot, ground)))
        case .update, .softDelete, .hardDelete, .other: .refuse(.alreadyThere)
        }
    }

    private func updating(_ snapshot: Snapshot, _ ground: Ground) -> Step {
        let adjustments = adjustments(beside: snapshot, ground)
        switch intent {
        case .create: return .take(.create(snapshot, adjustments))
        case .hardDelete where ground.isUnborn: return .wake(.create(snapshot, adjustments))
        case .hardDelete: return .wake(.update(snapshot, trash: nil, adjustments))
        // What waits was written before others put the item into the trash, so it is to come out of there.
        // Whoever goes on editing it in the trash does not take that back.
        case .update(let waiting, nil, _) where snapshot.isTrashed && !waiting.isTrashed:
            return .take(.update(snapshot, trash: .restored, adjustments))
        case .update, .softDelete, .other:
            return .take(.update(snapshot, trash: intent.trash, adjustments))
        }
    }

    /// New content carries the folder, the favourite and the date of archiving in itself. But some
    /// servers pass over a date that is missing, so what may be archived there is unarchived by a call.
    /// And a place that was wished by itself, or may have been sent from here, is not somebody else's, to be followed.
    private func adjustments(beside snapshot: Snapshot, _ ground: Ground) -> Adjustments {
        let mayBeArchived =
            ground.mayBeArchived || intent.adjustments.isArchived != nil
            || intent.snapshot?.isArchived == true
        var adjustments = Adjustments(
            isArchived: mayBeArchived && !snapshot.isArchived ? false : nil
        )
        guard let present = try? Cipher(snapshot.json) else { return adjustments }
        let maySent = [.create, .update, .partial].contains { mayHaveLanded($0) }
        let former = maySent ? intent.snapshot.flatMap { try? Cipher($0.json) } : nil
        if intent.adjustments.folder != nil
            || former.map({ $0.folderID != present.folderID }) == true
        {
            adjustments.folder = present.folderID.map { .id($0) } ?? Adjustments.Folder.none
        }
        if intent.adjustments.isFavourite != nil
            || former.map({ $0.isFavorite != present.isFavorite }) == true
        {
            adjustments.isFavourite = present.isFavorite
        }
        return adjustments
    }

    /// Content may carry a date of archiving, and may have carried one when it was last sent.
    private func unarchived(_ ground: Ground) -> Bool? {
        intent.snapshot != nil || ground.mayBeArchived ? false : nil
    }

    private func trashing(_ ground: Ground) -> Step {
        switch intent {
        case .create where ground.isHereOnly: .vanish
        case .create, .update, .softDelete, .other:
            .take(
                .softDelete(mutated(.foldDropsContent) ? nil : intent.snapshot, intent.adjustments)
            )
        case .hardDelete: .wake(.softDelete(nil, .none))
        }
    }

    private func deleting(_ ground: Ground) -> Step {
        switch intent {
        case .create where ground.isHereOnly: .vanish
        case .create, .update, .softDelete, .other: .take(.hardDelete)
        case .hardDelete: .stay
        }
    }

    /// A restore takes a pending trash back. It is sent only if the cipher may be in the trash.
    private func restoring(_ ground: Ground) -> Step {
        let wish: Intent.TrashWish? = ground.mayBeTrashed ? .restored : nil
        let adjustments = intent.adjustments
        switch intent {
        case .create: return .stay
        case .update(let snapshot, _, _):
            return .take(.update(snapshot, trash: wish, adjustments))
        case .softDelete(let snapshot?, _) where ground.isUnborn && !ground.mayBeTrashed:
            return .take(.create(snapshot, adjustments))
        case .softDelete(let snapshot?, _):
            return .take(.update(snapshot, trash: wish, adjustments))
        case .hardDelete: return .wake(.other(restores: true, .none))
        case .softDelete(nil, _), .other:
            return remaining(.other(restores: wish == .restored, adjustments))
        }
    }

    private func adjusting(_ adjust: (inout Adjustments) -> Void) -> Step {
        var adjustments = intent.adjustments
        adjust(&adjustments)
        switch intent {
        case .create(let snapshot, _): return .take(.create(snapshot, adjustments))
        case .update(let snapshot, let trash, _):
            return .take(.update(snapshot, trash: trash, adjustments))
        case .softDelete(let snapshot, _): return .take(.softDelete(snapshot, adjustments))
        case .hardDelete: return .wake(.other(restores: false, adjustments))
        case .other(let restores, _): return remaining(.other(restores: restores, adjustments))
        }
    }

    private func remaining(_ intent: Intent) -> Step {
        intent == .nothing ? .vanish : .take(intent)
    }
}
