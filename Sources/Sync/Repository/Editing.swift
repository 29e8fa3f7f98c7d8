internal import Logging
internal import Messaging
internal import System
internal import Vault

extension Repository {
    /// An edit whose item is to be shown afterwards.
    func write(
        _ wish: Wish,
        of expectation: Expectation
    ) async throws(Refusal) -> Written<ViewedItem> {
        // Whoever locks the vault meanwhile changes nothing about what has come of it.
        let keys = keyholder.keys
        let written = try await edit(wish, of: expectation)
        let item = try shown(written.value, keys)
        return written.map { _ in item }
    }

    func edit(
        _ wish: Wish,
        of expectation: Expectation = .anything
    ) async throws(Refusal) -> Written<Made> {
        let began = surroundings.timekeeper.elapsed
        let metrics = surroundings.metrics
        func took() -> Duration { surroundings.timekeeper.elapsed - began }
        do throws(Refusal) {
            let written = try await bringAbout(try draft(wish, expectation))
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

    private func draft(
        _ wish: Wish,
        _ expectation: Expectation
    ) throws(Refusal) -> Draft {
        let id = wish.cipherID ?? surroundings.chance.identifier(at: surroundings.now)
        let lane = Lane(userID: userID, cipherID: id)
        var (shown, over, yield): (Revision?, StoredChange?, Int?) = (nil, nil, nil)
        if wish.isBlind {
            let layers = try layers(of: lane)
            (shown, over) = (layers.base?.revision, layers.pending)
            if layers.lane != lane { yield = try lastYield(of: lane) }
        }
        return Draft(
            wish: wish,
            expectation: expectation,
            lane: lane,
            moment: surroundings.now,
            clock: surroundings.clockNote(offset: leastClockOffset()),
            shown: shown,
            over: over,
            yield: yield
        )
    }

    /// Looks again as often as somebody else was faster.
    private func bringAbout(_ draft: Draft) async throws(Refusal) -> Written<Made> {
        if let written = try await addOffline(draft) { return written }
        var patience = Patience.short
        while true {
            let isOvertaken = patience == .spent
            if isOvertaken || isOffline, switches.now.keepsEdits {
                let layers = try layers(of: draft.lane)
                let step = try await step(
                    draft,
                    layers,
                    holdsLane: false,
                    isOvertaken: isOvertaken
                )
                switch step {
                case .done(let written): return written
                case .again: continue
                case .needsLane: patience = isOvertaken ? .endless : .short
                }
            }
            switch try await inTurn(draft, switches.now.keepsEdits ? patience : .endless) {
            case .done(let written): return written
            case .again, .needsLane: continue
            case nil: patience = .spent
            }
        }
    }

    /// Nobody knows an id that was made just now, so there is nothing to look for.
    ///
    /// - Returns: Nil if it is to be brought about like any other edit.
    private func addOffline(_ draft: Draft) async throws(Refusal) -> Written<Made>? {
        guard draft.wish.cipherID == nil, isOffline, switches.now.keepsEdits else { return nil }
        let nothing = Layers(draft.lane, base: nil, pending: nil)
        let step = try await step(draft, nothing, holdsLane: false)
        guard case .done(let written) = step else { return nil }
        return written
    }

    /// How long an edit waits for its turn.
    private enum Patience {
        /// As long as a caller may be kept waiting.
        case short
        /// That is over: somebody else's call is not answered. What comes after it waits with it, if it can.
        case spent
        /// As long as it takes, because the edit cannot be kept for later.
        case endless
    }

    /// What came of an attempt to bring an edit about.
    private enum Step {
        case done(Written<Made>)
        /// The ground has moved.
        case again
        /// It cannot be done beside others, or the network is back since.
        case needsLane

        init(_ written: Written<Made>?) {
            self = written.map { .done($0) } ?? .again
        }
    }

    /// So long an edit waits for another one of its item. A run's may take longer than a caller is to wait.
    private static let patience = Duration.seconds(5)

    /// - Returns: Nil if its turn does not come.
    private func inTurn(
        _ draft: Draft,
        _ patience: Patience
    ) async throws(Refusal) -> Step? {
        let lane = try read { () throws(StoreError) in try neighbours.reader.resolve(draft.lane) }
        let body = { () async throws(Refusal) -> Step in
            let layers = try self.layers(of: draft.lane)
            // A create may have got its id from upstream while this edit waited for its turn.
            guard layers.lane == lane else { return .again }
            return try await self.step(draft, layers, holdsLane: true)
        }
        if patience == .endless { return try await lanes.hold(lane.cipherID, body) }
        return try await lanes.hold(
            lane.cipherID,
            within: Self.patience,
            by: surroundings.alarms,
            body
        )
    }

    private var isOffline: Bool { neighbours.monitor.standing.state == .offline }

    /// - Parameters:
    ///   - holdsLane: Without its cipher's lane an edit can wait, and nothing else.
    ///   - isOvertaken: It waits also if the network is there.
    private func step(
        _ draft: Draft,
        _ layers: Layers,
        holdsLane: Bool,
        isOvertaken: Bool = false
    ) async throws(Refusal) -> Step {
        let keys = try keys()
        let lane = layers.lane
        if mutated(.logsNames), let cipher = layers.cipher {
            surroundings.log.info("An edit.", ["name": Item(cipher, keys: keys).name])
        }
        switch try demand(of: draft, on: layers, keys) {
        case .nothing: return .done(.untouched(lane))
        case .shared(let wish):
            guard holdsLane else {
                try requireReach()
                return .needsLane
            }
            return Step(try await carryOut(wish, layers))
        case .personal(let wish):
            let keepsEdits = switches.now.keepsEdits
            let waits = (isOffline || isOvertaken) && keepsEdits
            guard holdsLane || waits else { return .needsLane }
            if !keepsEdits, layers.pending == nil {
                return Step(try await carryOut(wish, layers))
            }
            let edit = Edit(wish, at: draft.moment, clock: draft.clock)
            return Step(
                waits
                    ? try await queue(edit, layers)
                    : try await attempt(edit, layers, mayWait: keepsEdits)
            )
        }
    }
}

extension Written<Made> {
    /// There was nothing to do, or somebody else has done it.
    fileprivate static func untouched(_ lane: Lane) -> Written { .saved(lane.cipherID) }

    fileprivate static func saved(_ cipherID: String) -> Written {
        Written(Made(cipherID: cipherID), .saved)
    }
}

// MARK: - Bringing it about

extension Repository {
    private func queue(_ edit: Edit, _ layers: Layers) async throws(Refusal) -> Written<Made>? {
        switch try await record(edit, .queued, layers) {
        case .again: return nil
        case .nothingLeft: return .untouched(layers.lane)
        case .recorded(let recorded):
            guard let receiptID = recorded.receiptID else { return .untouched(layers.lane) }
            tellQueued()
            let overlay = Overlay(foundation: layers.foundation, change: recorded.change)
            let made = Made(cipherID: recorded.change.cipherID, overlay: overlay)
            return Written(made, .queued(receiptID: receiptID))
        }
    }

    private func attempt(
        _ edit: Edit,
        _ layers: Layers,
        mayWait: Bool
    ) async throws(Refusal) -> Written<Made>? {
        let isTroubled = neighbours.monitor.standing.state != .online
        let beginning = Beginning.inFlight(edit.attempt, needsRoom: mayWait && isTroubled)
        switch try await record(edit, beginning, layers) {
        case .again: return nil
        case .nothingLeft: return .untouched(layers.lane)
        case .recorded(let recorded):
            do throws(Refusal) {
                return try await push(recorded, mayWait: mayWait)
            } catch {
                throw unsettled(error)
            }
        }
    }

    /// Whoever heard that it was refused would edit once more. What the disk has not taken down is a run's to find
    /// out.
    private func unsettled(_ refusal: Refusal) -> Refusal {
        switch refusal {
        case .store(.queueFull): return refusal  // It was withdrawn.
        case .store(let error):
            tellQueued()
            return .unsettled(error)
        case .busy: return .unsettled(nil)
        default: return refusal
        }
    }

    private func push(
        _ recorded: Recorded,
        mayWait: Bool
    ) async throws(Refusal) -> Written<Made> {
        let change = recorded.change
        let attempted: Attempted = try await ask(neighbours.resolver) { .attempt(recorded, $0) }
        switch attempted {
        case .saved(let cipherID):
            return .saved(cipherID)
        case .landed:
            tellQueued()
            // Under upstream's id it is not known here yet, where the disk has not taken that down.
            return .saved(change.cipherID)
        case .overruled(let version):
            try await withdraw(recorded, version)
            throw .outOfDate
        case .refused(let setback, let version):
            try await withdraw(recorded, version)
            tellOutdated(setback)
            throw .upstream(setback)
        case .unanswered(let setback, let version) where !mayWait:
            try await withdraw(recorded, version)
            throw .upstream(setback)
        case .hindered(let note, let version) where !mayWait:
            try await withdraw(recorded, version)
            throw .hindered(note)
        case .unanswered(let setback, let version):
            countRetry(after: setback)
            return try await queue(
                recorded,
                version,
                mayHaveLanded: setback.mayHaveLanded,
                because: FailureNote(setback)
            )
        case .hindered(let note, let version):
            return try await queue(recorded, version, mayHaveLanded: false, because: note)
        case .overtaken:
            return try await overtaken(change)
        }
    }

    private func withdraw(_ recorded: Recorded, _ version: Int64) async throws(Refusal) {
        if mutated(.neverWithdraws) { return }
        let _: Bool = try await ask(neighbours.store) {
            .change(.withdraw(recorded, expecting: version, $0))
        }
        announce(recorded.change)
    }

    /// What was tried is tried again: when upstream has asked for it, or with whatever else waits, and when that is
    /// the scheduler knows.
    private func countRetry(after setback: Setback) {
        let cause = setback.reason.retryCause
        switch setback.reason {
        case .throttled(let until, .asked), .throttled(let until, .guessed):
            surroundings.metrics.scheduledRetry(cause, in: max(until - surroundings.now, .zero))
        case .unavailable, .unreachable(.tried), .foreign, .malformed, .unauthorised, .rejected,
            .stale, .missing:
            try? neighbours.scheduler.tryTell(.hindered(cause))
        // Nobody was asked.
        case .throttled(_, .paced), .unreachable(.held), .unreachable(.exhausted), .signedOut,
            .cancelled:
            break
        }
    }

    /// A change that upstream has not taken waits, if there is room for it. What upstream may have
    /// taken all the same has to be kept in any case.
    private func queue(
        _ recorded: Recorded,
        _ version: Int64,
        mayHaveLanded: Bool,
        because hindrance: FailureNote
    ) async throws(Refusal) -> Written<Made> {
        let isNew = recorded.before == nil && !mayHaveLanded
        do throws(Refusal) {
            return try await queue(
                recorded.change,
                version,
                needsRoom: isNew,
                because: hindrance
            )
        } catch {
            guard case .store(.queueFull) = error else { throw error }
            try await withdraw(recorded, version)
            throw error
        }
    }

    /// - Parameter edited: The change as the caller's edit left it, whatever has become of it since.
    private func queue(
        _ edited: PendingChange,
        _ version: Int64,
        needsRoom: Bool = false,
        isEditedOver: Bool = false,
        because hindrance: FailureNote? = nil
    ) async throws(Refusal) -> Written<Made> {
        let queued: (swap: Swap, receiptID: String?) = try await ask(neighbours.store) {
            .change(
                .queue(
                    edited.id,
                    expecting: version,
                    at: surroundings.now,
                    needsRoom: needsRoom,
                    isEditedOver: isEditedOver,
                    { change in
                        change.state = .ready
                        if let hindrance { change.noteHindrance(hindrance) }
                    },
                    $0
                )
            )
        }
        if case .done(let change) = queued.swap, let receiptID = queued.receiptID {
            announce(change)
            tellQueued()
            return Written(Made(cipherID: change.cipherID), .queued(receiptID: receiptID))
        }
        return try await overtaken(edited)
    }

    /// Somebody else went on with the change. If anything of it is left, it waits.
    private func overtaken(_ edited: PendingChange) async throws(Refusal) -> Written<Made> {
        let now = try read { () throws(StoreError) in
            try neighbours.reader.change(edited.id)?.change
        }
        guard let now else {
            let lane = Lane(userID: userID, cipherID: edited.cipherID)
            let resolved = try read { () throws(StoreError) in
                try neighbours.reader.resolve(lane)
            }
            return .saved(resolved.cipherID)
        }
        let isEditedOver = now.updated != edited.updated
        return try await queue(edited, now.version, isEditedOver: isEditedOver)
    }

    /// Upstream is not as it is seen here, or may not be: nobody may have said so, or nobody may have heard it.
    private func tellOutdated(_ setback: Setback) {
        guard setback.isOutdated || setback.mayHaveLanded else { return }
        try? neighbours.scheduler.tryTell(.trigger(.upstreamChanged))
    }

    private func requireReach() throws(Refusal) {
        do throws(Setback) { try neighbours.monitor.requireReach(for: "send it") } catch {
            throw .upstream(error)
        }
    }

    /// With offline editing switched off, and for what belongs to an organisation: upstream's answer
    /// is the caller's.
    ///
    /// - Returns: Nil if the ground has moved.
    private func carryOut(
        _ wish: Edit.Wish,
        _ layers: Layers
    ) async throws(Refusal) -> Written<Made>? {
        try requireReach()
        // It could not be written down here, and whoever does not find it would have it done twice.
        let _: Void = try await ask(neighbours.store) { .requireAcceptance($0) }
        let carried: Carried = try await ask(neighbours.resolver) {
            .carryOut(wish, of: layers.lane, madeOn: layers.base, $0)
        }
        switch carried {
        case .done(let cipherID): return .saved(cipherID ?? layers.lane.cipherID)
        case .unwritten(let cipher):
            try? neighbours.scheduler.tryTell(.trigger(.upstreamChanged))
            let cipherID = cipher.id ?? layers.lane.cipherID
            return Written(Made(cipherID: cipherID, unwritten: cipher), .saved)
        case .moved: return nil
        case .refused(let setback):
            tellOutdated(setback)
            throw .upstream(setback)
        case .locked: throw .locked
        }
    }
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
        _ beginning: Beginning,
        _ layers: Layers
    ) async throws(Refusal) -> Kept {
        let recording: Recording = try await ask(neighbours.store) {
            .change(.record(edit, in: layers.lane, as: beginning, expecting: layers.seen, $0))
        }
        switch recording {
        case .recorded(let recorded):
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
    func tellQueued() {
        try? neighbours.scheduler.tryTell(.trigger(.queued))
    }
}
