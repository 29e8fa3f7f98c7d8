/// What is done about a pending change.
///
/// Whatever the resolution, no version that somebody wrote is lost: the side that has to give way is
/// kept as a backup copy, or is still there to be decided about again.
public enum Resolution: String, CaseIterable, Hashable, Sendable {
    /// Carry out what is wished for.
    case push
    /// Keep a backup copy of what upstream holds, then carry out what is wished for.
    case pushKeepingUpstream
    /// Keep a backup copy of the change's content, then take what upstream holds.
    case yieldKeepingLocal
    /// Take what upstream holds; the wish is withdrawn, and the user decides again.
    case yield
    /// The content is there; carry out what else is wished for.
    case complete
    /// Create the item.
    case create
    /// The item is there, so what is pending is an edit of it: decide anew about that.
    case adopt
    /// Create the item again, since upstream has lost it.
    case recreate
    /// There is nothing left to do.
    case settle
}

extension Situation {
    /// The decision table. Every line is a sentence; the compiler checks that none is missing.
    public var resolution: Resolution {
        switch (wish, standing, later, outgrowsHistory) {
        case (.create, .missing, _, _): .create
        case (.create, _, _, _): .adopt

        case (.content, .missing, _, _): .recreate
        case (.content, .landed, _, _): .complete
        case (.content, .ours, _, false): .push
        case (.content, .ours, _, true): .pushKeepingUpstream
        case (.content, .unmoved, _, false): .push
        case (.content, .unmoved, _, true): .pushKeepingUpstream
        case (.content, .touched, _, false): .push
        case (.content, .touched, _, true): .pushKeepingUpstream
        case (.content, .moved, .local, _): .pushKeepingUpstream
        case (.content, .moved, .upstream, _): .yieldKeepingLocal
        case (.content, .unproven, _, _): .pushKeepingUpstream
        case (.content, .shared, _, _): .yieldKeepingLocal

        case (.contentAndTrash, .missing, _, _): .recreate
        case (.contentAndTrash, .landed, _, _): .complete
        case (.contentAndTrash, .ours, _, false): .push
        case (.contentAndTrash, .ours, _, true): .pushKeepingUpstream
        case (.contentAndTrash, .unmoved, _, false): .push
        case (.contentAndTrash, .unmoved, _, true): .pushKeepingUpstream
        case (.contentAndTrash, .touched, _, false): .push
        case (.contentAndTrash, .touched, _, true): .pushKeepingUpstream
        case (.contentAndTrash, .moved, _, _): .yieldKeepingLocal
        case (.contentAndTrash, .unproven, _, _): .yieldKeepingLocal
        case (.contentAndTrash, .shared, _, _): .yieldKeepingLocal

        case (.trash, .missing, _, _), (.delete, .missing, _, _): .settle
        case (.trash, .landed, _, _), (.delete, .landed, _, _): .push
        case (.trash, .ours, _, _), (.delete, .ours, _, _): .push
        case (.trash, .unmoved, _, _), (.delete, .unmoved, _, _): .push
        case (.trash, .touched, _, _), (.delete, .touched, _, _): .push
        case (.trash, .moved, _, _), (.delete, .moved, _, _): .yield
        case (.trash, .unproven, _, _), (.delete, .unproven, _, _): .yield
        case (.trash, .shared, _, _), (.delete, .shared, _, _): .yield

        case (.touch, .missing, _, _): .settle
        case (.touch, .shared, _, _): .yield
        case (.touch, _, _, _): .push
        }
    }

    /// Which conflict the metrics and the history count, if it is one, and for whom it was decided.
    public var conflict: (kind: Conflict, winner: Side)? {
        switch (resolution, standing) {
        case (.pushKeepingUpstream, .moved), (.pushKeepingUpstream, .unproven): (.hard, .local)
        case (.pushKeepingUpstream, _): (.soft, .local)
        case (.yieldKeepingLocal, _): (.hard, .upstream)
        case (.yield, _): wish == .touch ? nil : (.delete, .upstream)
        case (.recreate, _): (.delete, .local)
        case (.push, _), (.complete, _), (.create, _), (.adopt, _), (.settle, _): nil
        }
    }

    public enum Conflict: String, CaseIterable, Hashable, Sendable {
        /// Upstream moved away from what both sides agreed on.
        case hard
        /// Upstream did not move, but pushing would lose passwords.
        case soft
        /// One side has deleted, or put into the trash, what the other has changed.
        case delete
    }
}
