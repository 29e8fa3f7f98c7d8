internal import Crypto
internal import Logging
internal import Messaging
internal import System
internal import Vault

/// One edit on its way.
private struct Draft: Sendable {
    let wish: Repository.Wish
    /// Under the id by which the client knows the item.
    let lane: Lane
    let moment: Moment
}

/// What an edit comes to on the ground that it finds.
private enum Ground: Sendable {
    /// There is nothing to be done, and nothing is wrong with that.
    case nothing
    case personal(Edit.Wish)
    /// What belongs to an organisation is never kept for later.
    case shared(Edit.Wish)
}

extension Repository {
    /// - Returns: The id that the item has now, and what became of the edit.
    func edit(_ wish: Wish) async throws(Refusal) -> Written<String> {
        let began = surroundings.timekeeper.elapsed
        let metrics = surroundings.metrics
        func took() -> Duration { surroundings.timekeeper.elapsed - began }
        do throws(Refusal) {
            let written = try await settle(draft(wish))
            let isSaved = written.disposition == .saved
            metrics.edited(wish.operation, isSaved ? .saved : .queued, after: took())
            if mutated(.countsTwice) {
                metrics.edited(wish.operation, isSaved ? .saved : .queued, after: took())
            }
            return written
        } catch {
            metrics.edited(wish.operation, .rejected, after: took())
            throw error
        }
    }

    private func draft(_ wish: Wish) -> Draft {
        let id = wish.cipherID ?? surroundings.chance.identifier()
        let lane = Lane(userID: userID, cipherID: id)
        return Draft(wish: wish, lane: lane, moment: surroundings.now)
    }

    /// Looks again as often as somebody else was faster.
    private func settle(_ draft: Draft) async throws(Refusal) -> Written<String> {
        while true {
            let lane = try read { () throws(StoreError) in
                try neighbours.reader.resolve(draft.lane)
            }
            if isOffline, switches.now.keepsEdits {
                if let written = try await step(draft, lane) { return written }
                continue
            }
            let written = try await lanes.hold(lane.cipherID) {
                () async throws(Refusal) -> Written<String>? in
                try await step(draft, lane)
            }
            if let written { return written }
        }
    }

    private var isOffline: Bool { neighbours.monitor.standing.state == .offline }

    /// - Returns: Nil if the ground has moved.
    private func step(
        _ draft: Draft,
        _ lane: Lane
    ) async throws(Refusal) -> Written<String>? {
        let keys = try keys()
        let layers = try layers(of: lane)
        guard try isStill(lane, draft.lane) else { return nil }
        if mutated(.logsNames), let cipher = layers.cipher {
            surroundings.log.info("An edit.", ["name": Item(cipher, keys: keys).name])
        }
        switch try ground(of: draft, on: layers, keys) {
        case .nothing: return Written(lane.cipherID, .saved)
        case .shared(let wish): return try await carryOut(wish, lane)
        case .personal(let wish):
            let keepsEdits = switches.now.keepsEdits
            if !keepsEdits, layers.pending == nil { return try await carryOut(wish, lane) }
            let edit = Edit(
                wish,
                at: draft.moment,
                clock: surroundings.clockNote(offset: clockOffset())
            )
            return isOffline && keepsEdits
                ? try await queue(edit, lane, layers)
                : try await attempt(edit, lane, layers, mayWait: keepsEdits)
        }
    }

    /// A create may have got its id from upstream while this edit waited for its turn.
    private func isStill(_ lane: Lane, _ asked: Lane) throws(Refusal) -> Bool {
        try read { () throws(StoreError) in try neighbours.reader.resolve(asked) } == lane
    }
}

// MARK: - What it comes to

extension Repository {
    private func ground(
        of draft: Draft,
        on layers: Layers,
        _ keys: KeyRing
    ) throws(Refusal) -> Ground {
        if layers.pending != nil, layers.pending?.change == nil { throw .unreadable }
        if layers.isDamaged, layers.pending == nil { throw .unreadable }
        switch draft.wish {
        case .add(let body):
            return try adding(body, draft, keys)
        case .addCopy(let copy):
            let cipher = copy.withID(draft.lane.cipherID)
            return Ground(.add(Snapshot(cipher, keys: keys)), cipher)
        case .update(_, let body):
            return try updating(body, draft, layers, keys)
        case .trash:
            guard let cipher = layers.ground else { return .nothing }
            return Ground(.trash, cipher)
        case .delete:
            guard let cipher = layers.ground else { return .nothing }
            return Ground(.hardDelete, cipher)
        case .restore: return Ground(.restore, try layers.required)
        case .archive: return Ground(.archive, try layers.required)
        case .unarchive: return Ground(.unarchive, try layers.required)
        case .move(_, let folder): return Ground(.move(folder), try layers.required)
        case .favour(_, let isFavourite):
            return Ground(.favour(isFavourite), try layers.required)
        }
    }

    private func adding(
        _ body: ItemBody,
        _ draft: Draft,
        _ keys: KeyRing
    ) throws(Refusal) -> Ground {
        let cipher = try mend { () throws(EditRefusal) in
            try Cipher(
                creating: body,
                id: draft.lane.cipherID,
                at: draft.moment,
                keys: keys,
                entropy: surroundings.entropy
            )
        }
        return Ground(.add(Snapshot(cipher, keys: keys)), cipher)
    }

    private func updating(
        _ body: ItemBody,
        _ draft: Draft,
        _ layers: Layers,
        _ keys: KeyRing
    ) throws(Refusal) -> Ground {
        let cipher = try layers.required
        try refuseStale(body, layers)
        let edited = try mend { () throws(EditRefusal) in
            try Item(cipher, keys: keys).edited(
                by: body,
                at: draft.moment,
                keys: keys,
                entropy: surroundings.entropy
            )
        }
        let snapshot = Snapshot(edited.cipher, keys: keys)
        return Ground(.update(snapshot, changesPassword: edited.passwordChanges > 0), cipher)
    }

    /// Whoever edits a copy that is older than upstream's would overwrite what they have not seen.
    private func refuseStale(_ body: ItemBody, _ layers: Layers) throws(Refusal) {
        guard let base = layers.base, let text = body.revisionDate,
            let edited = Revision(text)
        else { return }
        // A client has seen three digits of the stamp.
        let seen = Moment(ticks: edited.moment.ticks + Moment.ticksPerMillisecond)
        guard seen < base.revision.moment else { return }
        let own = try read { () throws(StoreError) in try neighbours.reader.ownHistory(of: base) }
        guard mutated(.acceptsStaleCopy) || own.map({ $0 <= seen }) == true else {
            throw .outOfDate
        }
    }

    private func mend<Value>(_ body: () throws(EditRefusal) -> Value) throws(Refusal) -> Value {
        do throws(EditRefusal) { return try body() } catch { throw .unfit(error) }
    }
}

extension Layers {
    /// What an edit is about. Something that is to be deleted for good can still be edited by those who
    /// have it open.
    fileprivate var ground: Cipher? { cipher ?? foundation }

    fileprivate var required: Cipher {
        get throws(Repository.Refusal) {
            guard let ground else { throw .notFound }
            return ground
        }
    }
}

extension Ground {
    fileprivate init(_ wish: Edit.Wish, _ cipher: Cipher) {
        self = cipher.organizationID == nil ? .personal(wish) : .shared(wish)
    }
}

// MARK: - Bringing it about

extension Repository {
    private func queue(
        _ edit: Edit,
        _ lane: Lane,
        _ layers: Layers
    ) async throws(Refusal) -> Written<String>? {
        let recorded = try await record(edit, lane, .queued, layers)
        switch recorded {
        case .again: return nil
        case .nothingLeft: return Written(lane.cipherID, .saved)
        case .recorded(let recorded):
            guard let receiptID = recorded.receiptID else { return Written(lane.cipherID, .saved) }
            tellQueued(recorded.change)
            return Written(recorded.change.cipherID, .queued(receiptID: receiptID))
        }
    }

    private func attempt(
        _ edit: Edit,
        _ lane: Lane,
        _ layers: Layers,
        mayWait: Bool
    ) async throws(Refusal) -> Written<String>? {
        switch try await record(edit, lane, .inFlight(edit.attempt), layers) {
        case .again: return nil
        case .nothingLeft: return Written(lane.cipherID, .saved)
        case .recorded(let recorded): return try await push(recorded, mayWait: mayWait)
        }
    }

    private func push(
        _ recorded: Recorded,
        mayWait: Bool
    ) async throws(Refusal) -> Written<String> {
        let change = recorded.change
        let attempted: Attempted = try await ask(neighbours.resolver) { .attempt(recorded, $0) }
        switch attempted {
        case .saved(let cipherID):
            return Written(cipherID, .saved)
        case .refused(let setback, let version):
            try await withdraw(recorded, version)
            throw .upstream(setback)
        case .unanswered(let setback, let version) where !mayWait:
            try await withdraw(recorded, version)
            throw .upstream(setback)
        case .unanswered(let setback, let version):
            return try await queue(recorded, version, setback)
        case .overtaken:
            return try await overtaken(change)
        }
    }

    private func withdraw(_ recorded: Recorded, _ version: Int64) async throws(Refusal) {
        if mutated(.neverWithdraws) { return }
        let _: Bool = try await ask(neighbours.store) {
            .withdraw(recorded, expecting: version, $0)
        }
        announce(recorded.change)
    }

    /// A change that upstream has not taken waits, if there is room for it. What upstream may have
    /// taken all the same has to be kept in any case.
    private func queue(
        _ recorded: Recorded,
        _ version: Int64,
        _ setback: Setback
    ) async throws(Refusal) -> Written<String> {
        let change = recorded.change
        let isNew = recorded.before == nil && !setback.mayHaveLanded
        do throws(Refusal) {
            return try await queue(change.id, version, change.cipherID, needsRoom: isNew)
        } catch {
            guard case .store(.queueFull) = error else { throw error }
            try await withdraw(recorded, version)
            throw error
        }
    }

    private func queue(
        _ changeID: String,
        _ version: Int64,
        _ cipherID: String,
        needsRoom: Bool = false
    ) async throws(Refusal) -> Written<String> {
        let queued: (swap: Swap, receiptID: String?) = try await ask(neighbours.store) {
            .queue(
                changeID,
                expecting: version,
                at: surroundings.now,
                needsRoom: needsRoom,
                { $0.makeReady() },
                $0
            )
        }
        if case .done(let change) = queued.swap, let receiptID = queued.receiptID {
            tellQueued(change)
            return Written(change.cipherID, .queued(receiptID: receiptID))
        }
        let change = try read { () throws(StoreError) in
            try neighbours.reader.change(changeID)?.change
        }
        guard let change else { return Written(cipherID, .saved) }
        return try await overtaken(change)
    }

    /// Somebody else went on with the change. If anything of it is left, it waits.
    private func overtaken(_ change: PendingChange) async throws(Refusal) -> Written<String> {
        let now = try read { () throws(StoreError) in
            try neighbours.reader.change(change.id)?.change
        }
        guard let now else {
            let lane = Lane(userID: userID, cipherID: change.cipherID)
            let resolved = try read { () throws(StoreError) in
                try neighbours.reader.resolve(lane)
            }
            return Written(resolved.cipherID, .saved)
        }
        return try await queue(now.id, now.version, now.cipherID)
    }

    /// With offline editing switched off, and for what belongs to an organisation: upstream's answer
    /// is the caller's.
    private func carryOut(
        _ wish: Edit.Wish,
        _ lane: Lane
    ) async throws(Refusal) -> Written<String> {
        let carried: Carried = try await ask(neighbours.resolver) {
            .carryOut(wish, of: lane, $0)
        }
        switch carried {
        case .done(let cipherID): return Written(cipherID ?? lane.cipherID, .saved)
        case .refused(let setback): throw .upstream(setback)
        }
    }
}

extension PendingChange {
    fileprivate mutating func makeReady() { state = .ready }
}

// MARK: - Recording

/// What became of an edit in the store, as far as it matters here.
private enum Kept: Sendable {
    case recorded(Recorded)
    case nothingLeft
    case again
}

extension Repository {
    private func record(
        _ edit: Edit,
        _ lane: Lane,
        _ standing: Standing,
        _ layers: Layers
    ) async throws(Refusal) -> Kept {
        let recording: Recording = try await ask(neighbours.store) {
            .record(edit, in: lane, as: standing, expecting: layers.seen, $0)
        }
        switch recording {
        case .recorded(let recorded):
            // The edit was made on one copy; it must not be taken for one of a newer.
            if layers.pending == nil, recorded.change.baseline != layers.base?.revision,
                !mutated(.ignoresMovedGround)
            {
                try await withdraw(recorded, recorded.change.version)
                return .again
            }
            announce(recorded.change)
            return .recorded(recorded)
        case .gone:
            if let change = layers.pending?.change { announce(change) }
            return .nothingLeft
        case .unchanged: return .nothingLeft
        case .moved: return .again
        case .refused(.unknownCipher): throw .notFound
        case .refused(.alreadyThere): return .again
        case .unreadable: throw .unreadable
        }
    }

    func announce(_ change: PendingChange) {
        let lane = Lane(userID: userID, cipherID: change.cipherID)
        surroundings.announce(.pending(lane, changeID: change.id))
    }

    /// A scheduler that has too much to do finds the change by itself.
    private func tellQueued(_ change: PendingChange) {
        announce(change)
        try? neighbours.scheduler.tryTell(.trigger(.queued))
    }
}
