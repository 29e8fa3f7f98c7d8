internal import System

/// What becomes of a pending change when another edit of its cipher comes in.
public enum Folding: Hashable, Sendable {
    case recorded(PendingChange)
    /// The cipher was to be deleted for good and the later wish has its way.
    case resurrected(PendingChange)
    /// Nothing is left to be sent; a record that was there goes.
    case gone
    /// There was nothing to do.
    case unchanged
    case refused(Refusal)

    public enum Refusal: String, Hashable, Sendable {
        /// An add names a cipher that is there already.
        case alreadyThere
        /// An edit of what is neither upstream nor pending.
        case unknownCipher
    }

    /// The change as it is to be stored.
    public var change: PendingChange? {
        switch self {
        case .recorded(let change), .resurrected(let change): change
        case .gone, .unchanged, .refused: nil
        }
    }
}

extension PendingChange {
    /// The first edit of a cipher about which nothing was pending.
    public static func begin(
        _ edit: Edit,
        id: String,
        userID: String,
        cipherID: String,
        footing: Footing?
    ) -> Folding {
        switch (edit.wish, footing) {
        case (.add(let snapshot), nil):
            let blank = PendingChange(
                blankFor: edit,
                id: id,
                userID: userID,
                cipherID: cipherID,
                footing: nil
            )
            return .recorded(blank.taking(.create(snapshot, .none), from: edit))
        case (.add, _): return .refused(.alreadyThere)
        case (.trash, nil), (.hardDelete, nil): return .unchanged
        case (_, nil): return .refused(.unknownCipher)
        case (_, let footing):
            let blank = PendingChange(
                blankFor: edit,
                id: id,
                userID: userID,
                cipherID: cipherID,
                footing: footing
            )
            return blank.fold(edit, footing: footing)
        }
    }

    private init(
        blankFor edit: Edit,
        id: String,
        userID: String,
        cipherID: String,
        footing: Footing?
    ) {
        self.init(
            id: id,
            userID: userID,
            cipherID: cipherID,
            version: 0,
            intent: .nothing,
            baseline: footing?.revision,
            baseCopy: footing?.copy,
            created: edit.moment,
            updated: edit.moment
        )
    }

    /// Combines an edit with this change, which has no idle content. The later wish has its way; what it does not touch
    /// stays.
    public func fold(_ edit: Edit, footing: Footing? = nil) -> Folding {
        switch step(for: edit.wish, ground: Ground(self, footing)) {
        case .take(let intent): .recorded(taking(intent, from: edit, on: footing))
        case .wake(let intent): .resurrected(taking(intent, from: edit))
        case .vanish: version == 0 ? .unchanged : .gone
        case .stay: .unchanged
        case .refuse(let refusal): .refused(refusal)
        }
    }

    private func taking(
        _ intent: Intent,
        from edit: Edit,
        on footing: Footing? = nil
    ) -> PendingChange {
        var change = self
        if let footing, (hidesNothing && footing.copy != nil) || mutated(.foldsOntoNewGround) {
            change.rebase(onto: footing, cipherID: cipherID)
        }
        change.intent = intent
        change.foreignType = nil
        change.version += 1
        (change.updated, change.clock) = date(of: edit)
        change.passwordChanges = passwordChanges(after: edit.wish)
        change.state = .ready
        change.failures = 0
        change.lastFailure = nil
        return change
    }

    /// Whoever had to wait for their turn has made the edit before something else was sent that it comes after. What was
    /// sent long after it, a wrong clock has dated. What the clocks said comes along, or it would look as if one had
    /// been set meanwhile.
    private func date(of edit: Edit) -> (moment: Moment, clock: ClockNote?) {
        let call = attempts.last { $0.kind == .partial && $0.outcome == .unknown }
        guard let call, edit.moment < call.moment,
            call.moment < edit.moment.advanced(bySeconds: Attempt.patience)
        else { return (edit.moment, edit.clock) }
        let moment = call.moment + .microseconds(1)
        return (moment, edit.clock?.advanced(byTicks: moment.ticks - edit.moment.ticks))
    }

    /// Whether what upstream has was shown while this was pending, so whoever edits the item has seen it. Asked of what
    /// has no idle content.
    public var hidesNothing: Bool {
        switch intent {
        case .other: true
        case .softDelete(let snapshot, _): snapshot == nil
        case .create, .update, .hardDelete: false
        }
    }

    /// The same without content that brings nothing: on a ground that others have written it would be an edit of that.
    public var withoutIdleContent: PendingChange {
        guard bringsNothing else { return self }
        var change = self
        change.intent = .other(restores: false, intent.adjustments)
        return change
    }

    private func passwordChanges(after wish: Edit.Wish) -> Int64 {
        switch wish {
        case .add: 0
        case .update(_, let changesPassword): passwordChanges + (changesPassword ? 1 : 0)
        case .trash, .restore, .archive, .unarchive, .move, .favour, .place, .hardDelete:
            passwordChanges
        }
    }
}
