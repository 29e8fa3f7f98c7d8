internal import Logging
internal import System
internal import Vault

extension Resolver {
    /// Carries out a wish that is recorded nowhere, on the base copy's revision. Its caller hears of
    /// whatever goes wrong.
    ///
    /// - Parameter seen: What base had when the wish was made. It must not be taken for one that was made on a newer
    ///   copy, which a sync may have brought since: that would be written over, or deleted, unseen.
    func carryOut(
        _ wish: Edit.Wish,
        of lane: Lane,
        madeOn seen: BaseCipher?
    ) async throws(StoreError) -> Carried {
        guard let kit = kit(.interactive) else { return .locked }
        do throws(Setback) {
            try await kit.upstream.requireSameAccount(kit.urgency)
        } catch {
            return .refused(error)
        }
        let lane = try reader.resolve(lane)
        let mark = try reader.refreshMark(of: userID)
        let base = try reader.base(lane).flatMap { $0.isDamaged ? nil : $0 }
        guard base == seen || mutated(.ignoresMovedGround) else { return .moved }
        let copy = base.flatMap { try? Cipher($0.json) }
        let ground = wish.isConditional ? copy?.revision : nil
        var held = copy
        do throws(Setback) {
            let answer = try await kit.bringAbout(wish, of: lane.cipherID, over: &held)
            kit.stumbles.noteTaken()
            guard let answer else {
                await keep(kit) { .base(.remove(lane, $0)) }
                return .done(cipherID: nil)
            }
            let isWritten = await learn(answer, over: ground, since: mark, kit)
            return isWritten ? .done(cipherID: answer.id) : .unwritten(answer)
        } catch {
            // What came before that is done.
            if let held, held != copy {
                await learn(held, over: ground, since: mark, kit)
            } else if case .stale = error.reason {
                await lookAgain(at: lane, beside: copy, kit)
            }
            return .refused(error)
        }
    }

    /// Whoever hears that their copy is out of date is to find the present one; not so an earlier one, which would
    /// hide that upstream itself is at an earlier time.
    private func lookAgain(at lane: Lane, beside copy: Cipher?, _ kit: Kit) async {
        guard let mark = try? reader.refreshMark(of: userID), let shown = copy?.revision,
            let held = try? await kit.upstream.cipher(lane.cipherID, kit.urgency),
            held.revision?.isEarlier(than: shown) == false
        else { return }
        await learn(held.inCollections(copy?.collectionIDs ?? []), over: nil, since: mark, kit)
    }

    /// Base follows the answer. What was written there while that was on its way may be the younger, which only
    /// upstream can tell.
    ///
    /// - Returns: Whether the disk has taken down what there is.
    @discardableResult
    private func learn(
        _ answer: Cipher,
        over ground: Revision?,
        since mark: RefreshMark,
        _ kit: Kit
    ) async -> Bool {
        var (answer, ground, mark) = (answer, ground, mark)
        let judge = Judge(kit.keys)
        for _ in 0..<Self.looks {
            guard let base = BaseCipher(answer, of: userID) else { return true }
            let follows = await keep(kit) {
                .base(.follow(base, over: ground, since: mark, by: judge, $0))
            }
            guard let follows else { return false }
            guard !follows else { return true }
            guard let now = try? reader.refreshMark(of: userID),
                let held = try? await kit.upstream.cipher(base.lane.cipherID, kit.urgency)
            else {
                // By its stamp, then.
                let isWritten = await keep(kit) {
                    .base(.follow(base, over: ground, since: nil, by: judge, $0))
                }
                return isWritten != nil
            }
            (answer, ground, mark) = (held.inCollections(answer.collectionIDs), nil, now)
        }
        return true
    }

    /// So often base may be written in the moment between a look and what comes of it.
    private static let looks = 4

    /// It is done, whether or not that can be written down; the next sync finds it.
    ///
    /// - Returns: Nil if that cannot be.
    @discardableResult
    private func keep<Value: Sendable>(
        _ kit: Kit,
        _ message: (PendingStore.Answer<Value>) -> PendingStore.Message
    ) async -> Value? {
        do throws(StoreError) {
            return try await kit.ledger.insist(message)
        } catch {
            surroundings.log.error(
                "What upstream has taken is not seen here before the next sync.",
                because: error,
                ["account": userID]
            )
            return nil
        }
    }
}

extension Setback {
    /// Upstream itself would have deleted it.
    static var movedBeforeDeletion: Setback {
        let words = Rejection(
            status: 400,
            message:
                "The item is out of date: it was changed elsewhere. Look at it again before you"
                + " delete it for good."
        )
        return Setback(.stale(words), operation: "delete cipher")
    }
}

extension Edit.Wish {
    /// Whether upstream takes it only over what it was made on; by anything else it may answer with what
    /// others have written.
    fileprivate var isConditional: Bool { if case .update = self { true } else { false } }
}

extension Kit {
    /// - Parameter held: What upstream holds as far as is known, also if something fails.
    /// - Returns: What upstream holds now; nil if that is nothing.
    fileprivate func bringAbout(
        _ wish: Edit.Wish,
        of id: String,
        over held: inout Cipher?
    ) async throws(Setback) -> Cipher? {
        if case .add(let snapshot) = wish {
            let content = try content(of: snapshot)
            let collectionIDs = content.organizationID == nil ? [] : content.collectionIDs
            let made = try await create(content, in: collectionIDs)
            return collectionIDs.isEmpty ? made : made.inCollections(collectionIDs)
        }
        let intent = Intent(wish, over: held)
        let content = try intent.snapshot.map { snapshot throws(Setback) in
            try self.content(of: snapshot)
        }
        guard var copy = held else {
            // Nothing is known of it, so upstream itself says what it thinks of that.
            guard case .hardDelete = wish else { return try await upstream.cipher(id, urgency) }
            try await upstream.delete(id, urgency)
            return nil
        }
        if case .hardDelete = wish, try await moved(id, from: copy) != nil {
            throw .movedBeforeDeletion
        }
        var (state, done) = (ItemState(copy, isCertain: false), Set<Deed>())
        while let deed = intent.nextDeed(
            over: state,
            holdsContent: done.contains(.content),
            done: done
        ) {
            guard let answer = try await carryOutOnce(deed, on: id, over: copy, content) else {
                return nil
            }
            done.insert(deed)
            copy = answer.stillInCollections(copy.collectionIDs)
            held = copy
            state = ItemState(copy, isCertain: true)
        }
        return copy
    }

    /// Something on the way may have delivered it twice, and upstream refuses the second for the sake of the first.
    private func carryOutOnce(
        _ deed: Deed,
        on id: String,
        over copy: Cipher,
        _ content: Cipher?
    ) async throws(Setback) -> Cipher? {
        do throws(Setback) {
            return try await carryOut(deed, on: id, over: copy, content: content)
        } catch {
            guard deed == .content, case .stale = error.reason, let content,
                let held = try? await upstream.cipher(id, urgency),
                held.fingerprint == content.fingerprint
            else { throw error }
            return held
        }
    }

    private func content(of snapshot: Snapshot) throws(Setback) -> Cipher {
        do throws(NotACipher) {
            return try Cipher(snapshot.json)
        } catch {
            throw Setback(.malformed("\(error)"), operation: "send")
        }
    }
}

extension Intent {
    /// A wish that stands for itself. Content that carries no date of archiving takes an archived item
    /// out of the archive, and not all servers see that in the content.
    fileprivate init(_ wish: Edit.Wish, over copy: Cipher?) {
        self =
            switch wish {
            case .add(let snapshot): .create(snapshot, .none)
            case .update(let snapshot, _):
                .update(
                    snapshot,
                    trash: nil,
                    Adjustments(isArchived: copy?.isArchived == true ? snapshot.isArchived : nil)
                )
            case .trash: .softDelete(nil, .none)
            case .restore: .other(restores: true, .none)
            case .archive: .other(restores: false, Adjustments(isArchived: true))
            case .unarchive: .other(restores: false, Adjustments(isArchived: false))
            case .move(let folder): .other(restores: false, Adjustments(folder: folder))
            case .favour(let isFavourite):
                .other(restores: false, Adjustments(isFavourite: isFavourite))
            case .place(let folder, let isFavourite):
                .other(restores: false, Adjustments(folder: folder, isFavourite: isFavourite))
            case .hardDelete: .hardDelete
            }
    }
}
