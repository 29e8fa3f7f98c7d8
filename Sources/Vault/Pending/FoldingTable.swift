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
        mayBeArchived = footing?.isArchived == true || change.mayHaveLanded(.archive)
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
        case .add(let snapshot): adding(snapshot)
        case .update(let snapshot, _): updating(snapshot, ground)
        case .trash: trashing(ground)
        case .restore: restoring(ground)
        case .archive: adjusting(ground) { $0.isArchived = true }
        case .unarchive: adjusting(ground) { $0.isArchived = ground.mayBeArchived ? false : nil }
        case .move(let folder): adjusting(ground) { $0.folder = folder }
        case .favour(let isFavourite): adjusting(ground) { $0.isFavourite = isFavourite }
        case .hardDelete: deleting(ground)
        }
    }

    private func adding(_ snapshot: Snapshot) -> Step {
        switch intent {
        case .create(_, let adjustments): .take(.create(snapshot, adjustments.besideContent))
        case .update, .softDelete, .hardDelete, .other: .refuse(.alreadyThere)
        }
    }

    private func updating(_ snapshot: Snapshot, _ ground: Ground) -> Step {
        let adjustments = intent.adjustments.besideContent
        switch intent {
        case .create: return .take(.create(snapshot, adjustments))
        case .hardDelete where ground.isUnborn: return .wake(.create(snapshot, .none))
        case .hardDelete: return .wake(.update(snapshot, trash: nil, .none))
        case .update, .softDelete, .other:
            return .take(.update(snapshot, trash: intent.trash, adjustments))
        }
    }

    private func trashing(_ ground: Ground) -> Step {
        switch intent {
        case .create where ground.isHereOnly: .vanish
        case .create, .update, .softDelete, .other:
            .take(.softDelete(intent.snapshot, intent.adjustments))
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

    private func adjusting(_ ground: Ground, _ adjust: (inout Adjustments) -> Void) -> Step {
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
