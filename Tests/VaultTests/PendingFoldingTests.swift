import Testing
import Vault

private let new = Snapshot.sample("new")
private let old = Snapshot.sample("old")

private func edit(_ wish: Edit.Wish) -> Edit { Edit(wish, at: Moment(ticks: 300)) }

private func begin(_ wish: Edit.Wish, footing: Footing?) -> Folding {
    .begin(edit(wish), id: "record", userID: "user", cipherID: "cipher", footing: footing)
}

extension Folding {
    fileprivate static func begin(
        _ edit: Edit,
        id: String,
        userID: String,
        cipherID: String,
        footing: Footing?
    ) -> Folding {
        PendingChange.begin(edit, id: id, userID: userID, cipherID: cipherID, footing: footing)
    }
}

/// Row by row the table of R-146, where sections 3 and 4 do not say otherwise.
@Suite struct PendingFoldingMatrixTests {
    @Test func `nothing pending, then an add: a create without baseline`() throws {
        let change = try #require(begin(.add(new), footing: nil).change)
        #expect(change.type == .create)
        #expect(change.intent.snapshot == new)
        #expect(change.baseline == nil)
        #expect(change.passwordChanges == 0)
        #expect(change.version == 1)
        #expect(change.created == Moment(ticks: 300))
        #expect(change.updated == Moment(ticks: 300))
    }

    @Test(arguments: [(false, 0), (true, 1)])
    func `R-075 nothing pending, then an update: the base's revision is the baseline`(
        _ changesPassword: Bool,
        _ count: Int64
    ) throws {
        let folding = begin(.update(new, changesPassword: changesPassword), footing: .sample)
        let change = try #require(folding.change)
        #expect(change.intent == .update(new, trash: nil, .none))
        #expect(change.baseline == Footing.sample.revision)
        #expect(change.baseCopy == [1, 2, 3])
        #expect(change.passwordChanges == count)
    }

    @Test(arguments: [(Edit.Wish.trash, Intent.softDelete(nil, .none)), (.hardDelete, .hardDelete)])
    func `R-078, T-20 nothing pending, then a deletion: no content, counter 0`(
        _ wish: Edit.Wish,
        _ intent: Intent
    ) throws {
        let change = try #require(begin(wish, footing: .sample).change)
        #expect(change.intent == intent)
        #expect(change.baseline == Footing.sample.revision)
        #expect(change.passwordChanges == 0)
    }

    @Test func `nothing pending and nothing known: a deletion does nothing`() {
        #expect(begin(.trash, footing: nil) == .unchanged)
        #expect(begin(.hardDelete, footing: nil) == .unchanged)
    }

    @Test func `T-21 an edit of an unknown cipher is refused, for it would have no baseline`() {
        let update = begin(.update(new, changesPassword: false), footing: nil)
        #expect(update == .refused(.unknownCipher))
        for wish in [Edit.Wish.restore, .archive, .unarchive, .move(.none), .favour(true)] {
            #expect(begin(wish, footing: nil) == .refused(.unknownCipher))
        }
    }

    @Test func `T-33 an add of a cipher that is there is refused`() {
        #expect(begin(.add(new), footing: .sample) == .refused(.alreadyThere))
        for intent in Intent.samples where intent.type != .create {
            let folding = PendingChange.sample(intent).fold(edit(.add(new)), footing: .sample)
            #expect(folding == .refused(.alreadyThere))
        }
    }

    @Test func `a create, then an add of the same: a create with the new content`() throws {
        let create = PendingChange.sample(.create(old, .none))
        let change = try #require(create.fold(edit(.add(new))).change)
        #expect(change.intent == .create(new, .none))
        #expect(change.passwordChanges == 0)
    }

    @Test(arguments: [(false, 2), (true, 3)])
    func `R-077 a create, then an update: still a create without baseline, counted on`(
        _ changesPassword: Bool,
        _ count: Int64
    ) throws {
        let create = PendingChange.sample(.create(old, .none))
        let folding = create.fold(edit(.update(new, changesPassword: changesPassword)))
        let change = try #require(folding.change)
        #expect(change.intent == .create(new, .none))
        #expect(change.baseline == nil)
        #expect(change.passwordChanges == count)
    }

    @Test(arguments: [Edit.Wish.trash, .hardDelete])
    func `a create that was never sent, then a deletion: nothing is left`(_ wish: Edit.Wish) {
        for intent in Intent.samples where intent.type == .create {
            #expect(PendingChange.sample(intent).fold(edit(wish)) == .gone)
        }
    }

    @Test func `R-009, R-075 an update, then another: baseline kept, counted on`() throws {
        let update = PendingChange.sample(.update(old, trash: nil, .none))
        let folding = update.fold(edit(.update(new, changesPassword: true)), footing: .sample)
        let change = try #require(folding.change)
        #expect(change.intent == .update(new, trash: nil, .none))
        #expect(change.baseline?.text == "first")
        #expect(change.passwordChanges == 3)
    }

    @Test func `T-26 an update, then the trash: the content stays and goes first`() throws {
        let update = PendingChange.sample(.update(old, trash: nil, .none))
        let change = try #require(update.fold(edit(.trash), footing: .sample).change)
        #expect(change.intent == .softDelete(old, .none))
        #expect(change.type == .softDelete)
    }

    @Test func `T-27 the trash, then an update: content and trash`() throws {
        let trash = PendingChange.sample(.softDelete(nil, .none))
        let folding = trash.fold(edit(.update(new, changesPassword: false)), footing: .sample)
        let change = try #require(folding.change)
        #expect(change.intent == .update(new, trash: .trashed, .none))
        #expect(change.type == .update)
    }

    @Test func `T-35 who goes on in the trash with what waits takes nothing of it back`() throws {
        let inside = Snapshot.sample(
            #"{"type":1,"name":"new","deletedDate":"2026-01-09T00:00:00.000Z"}"#
        )
        let again = edit(.update(inside, changesPassword: false))
        func folded(_ intent: Intent) -> Intent? {
            PendingChange.sample(intent).fold(again, footing: .trashed).change?.intent
        }
        #expect(folded(.update(old, trash: nil, .none)) == .update(inside, trash: .restored, .none))
        // Who began there, or put it there, wants it to stay.
        #expect(folded(.update(inside, trash: nil, .none)) == .update(inside, trash: nil, .none))
        #expect(folded(.softDelete(old, .none)) == .update(inside, trash: .trashed, .none))
        let begun = begin(again.wish, footing: .trashed).change?.intent
        #expect(begun == .update(inside, trash: nil, .none))
    }

    @Test func `T-28 an update, then the deletion: the first baseline stays`() throws {
        let update = PendingChange.sample(.update(old, trash: nil, .none))
        let change = try #require(update.fold(edit(.hardDelete), footing: .sample).change)
        #expect(change.intent == .hardDelete)
        #expect(change.baseline?.text == "first")
        #expect(change.baseCopy == [4])
    }

    @Test func `T-29 a restore takes back a pending trash`() throws {
        let trash = PendingChange.sample(.softDelete(nil, .none))
        #expect(trash.fold(edit(.restore), footing: .sample) == .gone)

        let content = PendingChange.sample(.softDelete(old, .none))
        let change = try #require(content.fold(edit(.restore), footing: .sample).change)
        #expect(change.intent == .update(old, trash: nil, .none))
    }

    @Test func `T-29 a restore is sent when the cipher may be in the trash upstream`() throws {
        let trash = PendingChange.sample(.softDelete(nil, .none))
        let base = try #require(trash.fold(edit(.restore), footing: .trashed).change)
        #expect(base.intent == .other(restores: true, .none))

        let sent = Attempt(.trash, at: Moment(ticks: 1))
        let unsure = PendingChange.sample(.softDelete(old, .none), attempts: [sent])
        let change = try #require(unsure.fold(edit(.restore), footing: .sample).change)
        #expect(change.intent == .update(old, trash: .restored, .none))
    }

    @Test func `a restore of what is not in the trash does nothing`() {
        #expect(begin(.restore, footing: .sample) == .unchanged)
        #expect(begin(.restore, footing: .trashed).change?.intent == .other(restores: true, .none))
    }

    @Test func `T-30 an add after a deletion is refused under the old id`() {
        let deleted = PendingChange.sample(.hardDelete)
        #expect(deleted.fold(edit(.add(new))) == .refused(.alreadyThere))
    }

    @Test func `T-31 an update after the deletion wakes the cipher, with the first baseline`() {
        let deleted = PendingChange.sample(.hardDelete)
        let folding = deleted.fold(edit(.update(new, changesPassword: false)), footing: .sample)
        guard case .resurrected(let change) = folding else {
            Issue.record("The later wish was not told apart: \(folding)")
            return
        }
        #expect(change.intent == .update(new, trash: nil, .none))
        #expect(change.baseline?.text == "first")
    }

    @Test func `the deletion, then the trash: in the trash`() {
        let folding = PendingChange.sample(.hardDelete).fold(edit(.trash), footing: .sample)
        guard case .resurrected(let change) = folding else {
            Issue.record("The later wish was not told apart: \(folding)")
            return
        }
        #expect(change.intent == .softDelete(nil, .none))
    }

    @Test func `the deletion twice is the deletion once`() {
        #expect(PendingChange.sample(.hardDelete).fold(edit(.hardDelete)) == .unchanged)
    }

    @Test func `T-32 the counter outlives a deletion`() throws {
        let update = PendingChange.sample(.update(old, trash: nil, .none))
        let deleted = try #require(update.fold(edit(.hardDelete)).change)
        #expect(deleted.passwordChanges == 2)
        let again = deleted.fold(edit(.update(new, changesPassword: true)), footing: .sample)
        #expect(again.change?.passwordChanges == 3)
    }

    @Test(arguments: [Edit.Wish.trash, .hardDelete])
    func `T-05 a create that may have landed is not forgotten`(_ wish: Edit.Wish) throws {
        let sent = Attempt(.create, at: Moment(ticks: 1), fingerprint: [5])
        let create = PendingChange.sample(.create(old, .none), attempts: [sent])
        let change = try #require(create.fold(edit(wish)).change)
        #expect(change.attempts == [sent])
        #expect(change.isUnborn)
        #expect([.softDelete, .hardDelete].contains(change.type))

        let back = change.fold(edit(.update(new, changesPassword: false)))
        #expect(wish == .hardDelete || back.change?.type == .update)
        if wish == .hardDelete {
            // What was sent may have been archived; nobody knows any more.
            let unarchived = Adjustments(isArchived: false)
            #expect(back.change?.intent == .create(new, unarchived))
        }
    }

    @Test func `archiving and unarchiving cancel each other unless upstream may have it`() throws {
        let archived = try #require(begin(.archive, footing: .sample).change)
        #expect(archived.type == .other)
        #expect(archived.fold(edit(.unarchive), footing: .sample) == .gone)
        let kept = archived.fold(edit(.unarchive), footing: .archived).change
        #expect(kept?.intent.adjustments.isArchived == false)
    }

    @Test func `new content carries folder and favourite in itself`() throws {
        let moved = try #require(begin(.move(.id("work")), footing: .sample).change)
        let favoured = try #require(moved.fold(edit(.favour(true)), footing: .sample).change)
        #expect(favoured.intent.adjustments == Adjustments(folder: .id("work"), isFavourite: true))
        let folding = favoured.fold(edit(.update(new, changesPassword: false)), footing: .sample)
        #expect(folding.change?.intent == .update(new, trash: nil, .none))
    }
}
