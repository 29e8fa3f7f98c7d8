@testable import LoadTest
import Testing

/// What the checker lets pass, and above all what it does not.
struct CheckerTests {
    // MARK: What is right

    @Test func `nothing done and nothing changed is right`() {
        let verdict = Trial().verdict
        #expect(verdict.isHeld)
        #expect(verdict.checks[.untouched]?.examined == 3)
    }

    @Test func `edits that arrived are right, those before them being superseded`() {
        var trial = Trial()
        trial.update(0, "first")
        let last = trial.update(0, "second")
        trial.hold(0, last, history: ["pw first", "pw base0"])
        trial.edit(.trash(thing: 1))
        trial.hold(1, trial.evidence.plan.base[1], isInTrash: true)
        trial.edit(.delete(thing: 2))
        trial.lose(2)
        let made = trial.create("made")
        trial.holdMore("new", made)
        #expect(trial.verdict.failures == [])
        #expect(trial.verdict.checks[.acknowledged]?.examined == 5)
    }

    @Test func `of two sides of a conflict one may be the item and the other a copy`() {
        for isLocalTheItem in [true, false] {
            var trial = Trial()
            let mine = trial.update(0, "mine")
            let theirs = trial.foreign(0, "theirs")
            let (item, copy) = isLocalTheItem ? (mine, theirs) : (theirs, mine)
            trial.hold(0, item, history: ["pw base0"])
            trial.holdCopy(copy)
            #expect(trial.verdict.failures == [])
        }
    }

    @Test func `what somebody else wrote outlives a removal`() {
        for edit in [UserPlan.Edit.trash(thing: 0), .delete(thing: 0)] {
            var trial = Trial()
            trial.edit(edit)
            let theirs = trial.foreign(0, "theirs")
            trial.hold(0, theirs, history: ["pw base0"])
            #expect(trial.verdict.failures == [])
        }
    }

    @Test func `an item that was made and removed again leaves nothing`() {
        var trial = Trial()
        trial.create("made")
        trial.edit(.trash(thing: 3))
        #expect(trial.verdict.failures == [])
    }

    @Test(arguments: [true, false])
    func `an edit that nobody answered may be there or not`(_ isThere: Bool) {
        var trial = Trial()
        let known = trial.update(0, "known")
        let open = trial.update(0, "open", .unknown)
        trial.hold(0, isThere ? open : known, history: ["pw known", "pw base0"])
        let made = trial.create("made", .unknown)
        if isThere { trial.holdMore("new", made) }
        #expect(trial.verdict.failures == [])
    }

    @Test(arguments: [true, false], [true, false])
    func `a removal that nobody answered may have happened or not`(
        _ isTrash: Bool,
        _ hasHappened: Bool
    ) {
        var trial = Trial()
        let mine = trial.update(0, "mine")
        trial.hold(0, mine, history: ["pw base0"], isInTrash: isTrash && hasHappened)
        let made = trial.create("made")
        for thing in [0, 3] {
            trial.edit(isTrash ? .trash(thing: thing) : .delete(thing: thing), .unknown)
        }
        if hasHappened, !isTrash { trial.lose(0) }
        if !hasHappened { trial.holdMore("new", made) }
        #expect(trial.verdict.failures == [])
    }

    @Test(arguments: [true, false])
    func `an edit that nobody answered may be in the trash with its item or not`(_ isThere: Bool) {
        var trial = Trial()
        let known = trial.update(0, "known")
        let open = trial.update(0, "open", .unknown)
        let other = trial.update(1, "other", .unknown)
        for thing in [0, 1] { trial.edit(.trash(thing: thing)) }
        let base = trial.evidence.plan.base[1]
        trial.hold(0, isThere ? open : known, history: ["pw known", "pw base0"], isInTrash: true)
        trial.hold(1, isThere ? other : base, history: ["pw base1"], isInTrash: true)
        #expect(trial.verdict.failures == [])
    }

    @Test func `a refused edit leaves the item as it was`() {
        var trial = Trial()
        trial.update(0, "refused", .refused(status: 400, "no"))
        #expect(trial.verdict.failures == [])
        #expect(trial.verdict.checks[.untouched]?.examined == 3)
    }

    @Test func `a history need not remember more than five`() {
        var trial = Trial()
        let contents = (1...7).map { trial.update(0, "e\($0)") }
        trial.hold(0, contents[6], history: (2...6).reversed().map { "pw e\($0)" })
        #expect(trial.verdict.failures == [])
    }

    // MARK: What is lost

    @Test func `an acknowledged edit that is nowhere is lost`() {
        var trial = Trial()
        trial.update(0, "mine", password: "pw base0")
        #expect(trial.broken == [.acknowledged])
    }

    @Test func `the last edit is not superseded by the one before it`() {
        var trial = Trial()
        let first = trial.update(0, "first", password: "pw base0")
        trial.update(0, "second", password: "pw base0")
        trial.hold(0, first)
        #expect(trial.broken == [.acknowledged])
    }

    @Test func `an acknowledged creation that is nowhere is lost`() {
        var trial = Trial()
        trial.create("made")
        #expect(trial.broken == [.acknowledged, .passwords])
    }

    @Test func `an edit that gave way to another device and has no copy is lost`() {
        var trial = Trial()
        trial.update(0, "mine", password: "pw base0")
        let theirs = trial.foreign(0, "theirs")
        trial.hold(0, theirs, history: ["pw base0"])
        #expect(trial.broken == [.acknowledged])
    }

    @Test func `an edit that gave way to nobody is not where it belongs`() {
        var trial = Trial()
        let mine = trial.update(0, "mine", password: "pw base0")
        trial.holdCopy(mine)
        #expect(trial.broken == [.acknowledged])
        trial.evidence.beganFresh = false
        #expect(trial.verdict.failures == [])
        trial.evidence.beganFresh = true
        trial.hold(0, mine)
        trial.evidence.found.removeLast()
        #expect(trial.verdict.failures == [])
    }

    @Test func `another device's edit that was overwritten without a copy is lost`() {
        var trial = Trial()
        let mine = trial.update(0, "mine")
        trial.foreign(0, "theirs")
        trial.hold(0, mine, history: ["pw base0"])
        #expect(trial.broken == [.foreign])
    }

    @Test func `another device's edit that was deleted is lost`() {
        var trial = Trial()
        trial.edit(.delete(thing: 0))
        trial.foreign(0, "theirs")
        trial.lose(0)
        #expect(trial.broken == [.foreign])
    }

    @Test
    func `content that went into the trash with an item is lost if the trash has older content`() {
        var trial = Trial()
        trial.update(0, "mine", password: "pw base0")
        trial.edit(.trash(thing: 0))
        trial.hold(0, trial.evidence.plan.base[0], isInTrash: true)
        #expect(trial.broken == [.acknowledged])
    }

    @Test func `an edit that nobody answered is no excuse for what is not in the trash`() {
        var trial = Trial()
        trial.update(0, "mine", password: "pw base0")
        let open = trial.update(0, "open", password: "pw base0", .unknown)
        trial.edit(.trash(thing: 0))
        #expect(trial.broken == [.acknowledged])
        trial.hold(0, trial.evidence.plan.base[0], isInTrash: true)
        #expect(trial.broken == [.acknowledged])
        trial.hold(0, open)
        #expect(trial.broken == [.acknowledged])
        trial.lose(0)
        #expect(trial.broken == [.acknowledged, .passwords])
    }

    @Test func `a trash that nobody answered is no excuse for what it does not take away`() {
        var trial = Trial()
        trial.update(0, "mine", password: "pw base0")
        trial.edit(.trash(thing: 0), .unknown)
        trial.hold(0, trial.evidence.plan.base[0], isInTrash: true)
        #expect(trial.broken == [.acknowledged])
        trial.lose(0)
        #expect(trial.broken == [.acknowledged, .passwords])
    }

    @Test func `an item whose only edit nobody answered is neither gone nor in the trash`() {
        var trial = Trial()
        let open = trial.update(0, "open", .unknown)
        for content in [open, trial.evidence.plan.base[0]] {
            trial.hold(0, content, history: ["pw base0"], isInTrash: true)
            #expect(trial.broken == [.acknowledged])
        }
        trial.lose(0)
        #expect(trial.broken == [.acknowledged])
    }

    @Test func `a password that no history remembers is lost`() {
        var trial = Trial()
        trial.update(0, "first")
        let last = trial.update(0, "second")
        trial.hold(0, last, history: ["pw base0"])
        #expect(trial.broken == [.passwords])
    }

    @Test func `an item that nobody touched must be there and as it was`() {
        var gone = Trial()
        gone.lose(1)
        #expect(gone.broken == [.untouched])
        var trashed = Trial()
        trashed.hold(1, trashed.evidence.plan.base[1], isInTrash: true)
        #expect(trashed.broken == [.untouched])
    }

    @Test func `a removal that was acknowledged must have happened`() {
        var deleted = Trial()
        deleted.edit(.delete(thing: 0))
        #expect(deleted.broken == [.acknowledged])
        var trashed = Trial()
        trashed.edit(.trash(thing: 0))
        #expect(trashed.broken == [.acknowledged])
    }

    @Test func `an item that was made and trashed must be gone, or in the trash`() {
        for isInTrash in [true, false] {
            var trial = Trial()
            let made = trial.create("made")
            trial.edit(.trash(thing: 3))
            trial.holdMore("new", made)
            trial.hold(3, made, isInTrash: isInTrash)
            #expect(trial.broken == (isInTrash ? [] : [.acknowledged]))
        }
    }

    @Test func `a copy of an item that was made and trashed may be anywhere`() {
        var trial = Trial()
        let made = trial.create("made")
        trial.edit(.trash(thing: 3))
        trial.holdCopy(made)
        #expect(trial.verdict.failures == [])
    }

    @Test func `an edited item does not go into the trash by itself`() {
        var trial = Trial()
        let mine = trial.update(0, "mine")
        trial.hold(0, mine, history: ["pw base0"], isInTrash: true)
        #expect(trial.broken == [.acknowledged])
    }

    @Test func `an item edited from both sides does not go into the trash by itself`() {
        for isLocalInTrash in [true, false] {
            var trial = Trial()
            let mine = trial.update(0, "mine")
            let theirs = trial.foreign(0, "theirs")
            let (item, copy) = isLocalInTrash ? (mine, theirs) : (theirs, mine)
            trial.hold(0, item, history: ["pw base0"], isInTrash: true)
            trial.holdCopy(copy)
            #expect(trial.broken == [.acknowledged])
        }
    }

    @Test func `an item that nobody deleted is not made anew`() {
        var trial = Trial()
        let mine = trial.update(0, "mine")
        trial.hold(0, mine, history: ["pw base0"])
        trial.evidence.found[0].id = "another"
        #expect(trial.broken == [.acknowledged])
        trial.evidence.found[0].id = "id0"
        trial.evidence.found[1].id = "another"
        #expect(trial.broken == [.untouched])
    }

    @Test func `what goes while nobody edits is lost`() {
        let items = Trial().evidence.found
        let contents = Set(items.map(\.content))
        #expect(Verdict(onRestOf: 7, contents, items).isHeld)
        #expect(Verdict(onRestOf: 7, contents, items).checks[.untouched]?.examined == 3)
        var trashed = items
        trashed[2].isInTrash = true
        for left in [Array(items.dropFirst()), trashed] {
            let failures = Verdict(onRestOf: 7, contents, left).failures
            #expect(failures.map(\.check) == [.untouched] && failures.first?.user == 7)
        }
    }

    @Test func `what comes, or says something else, while nobody edits was written by nobody`() {
        let items = Trial().evidence.found
        let contents = Set(items.map(\.content))
        func broken(_ items: [FoundItem]) -> [Check.Name] {
            Verdict(onRestOf: 7, contents, items).failures.map(\.check)
        }
        var changed = items
        changed[1].content.password = "another"
        #expect(broken(changed) == [.untouched, .invented])
        #expect(broken(items + [changed[1]]) == [.invented])
        #expect(broken(items + [items[0]]) == [.duplicates])
    }

    // MARK: What is there twice

    @Test func `the same content in two items is a duplicate`() {
        var trial = Trial()
        let made = trial.create("made")
        trial.holdMore("one", made)
        trial.holdMore("two", made)
        #expect(trial.broken == [.duplicates])
    }

    @Test func `two copies of one content are a duplicate`() {
        var trial = Trial()
        let mine = trial.update(0, "mine")
        let theirs = trial.foreign(0, "theirs")
        trial.hold(0, mine, history: ["pw base0"])
        trial.holdCopy(theirs)
        trial.holdCopy(theirs)
        #expect(trial.broken == [.duplicates])
    }

    @Test func `an item that is there with its old and its new content is a duplicate`() {
        var trial = Trial()
        let mine = trial.update(0, "mine", password: "pw base0")
        trial.holdMore("again", mine)
        #expect(trial.broken == [.duplicates])
    }

    // MARK: What was invented

    @Test func `content that nobody wrote is invented`() {
        var trial = Trial()
        trial.holdMore("strange", Content(mark: "strange", name: "Strange"))
        #expect(trial.broken == [.invented])
    }

    @Test func `a refused edit that turns up is invented`() {
        var trial = Trial()
        let refused = trial.create("refused", .refused(status: 507, "full"))
        trial.holdMore("new", refused)
        #expect(trial.broken == [.invented])
    }

    @Test(arguments: ["name", "username", "password"])
    func `an item that mixes two writings is invented`(_ member: String) {
        var trial = Trial()
        var mixed = trial.evidence.plan.base[0]
        let other = trial.evidence.plan.base[1]
        switch member {
        case "name": mixed.name = other.name
        case "username": mixed.username = other.username
        default: mixed.password = other.password
        }
        trial.hold(0, mixed)
        #expect(trial.broken.contains(.invented))
    }

    @Test func `a name with anything but a time behind it is not a copy's`() {
        var trial = Trial()
        var renamed = trial.evidence.plan.base[0]
        renamed.name += " - copy"
        trial.hold(0, renamed)
        #expect(trial.broken.contains(.invented))
    }

    @Test func `a copy of a copy has another time behind its name`() {
        let copy = Content(name: "a - 2026-11-24 20:40:47", username: "", password: "", notes: "")
        #expect(copy.isNamed("a - 2026-11-24 20:40:50") == .copy)
        #expect(copy.isNamed("a - 2026-11-24 20:40:47") == .own)
        #expect(copy.isNamed("a") == nil)
        #expect(copy.isNamed("b - 2026-11-24 20:40:50") == nil)
    }

    @Test func `an item that cannot be opened is not taken for a good one`() {
        var trial = Trial()
        trial.evidence.unreadable = ["broken"]
        #expect(trial.broken == [.invented])
    }

    @Test func `a password in a history that nobody wrote is invented`() {
        var trial = Trial()
        trial.hold(0, trial.evidence.plan.base[0], history: ["pw of somebody else"])
        #expect(trial.broken == [.invented])
    }

    // MARK: What the host shows

    @Test func `a host that shows something else than upstream holds is found out`() {
        let right = ["id0": "base0", "id1": "base1", "id2": "base2"]
        let others: [([String: String], Bool)] = [
            (right, true), (right.filter { $0.key != "id1" }, false),
            (right.merging(["id1": "old"]) { $1 }, false),
            (right.merging(["more": "base0"]) { $1 }, false),
        ]
        for (shown, isRight) in others {
            var trial = Trial()
            trial.evidence.shown = shown
            #expect(trial.broken == (isRight ? [] : [.view]))
        }
    }
}
