import Machine
import Testing

@testable import Simulation

/// The oracle can say no: each of its words is heard at least once.
@Suite struct KnowledgeTests {
    private static let push = Knowledge.Author.host(0, .push, known: "a", left: .seconds(2))

    /// An edit of that item here, accepted.
    private static func edit(
        _ item: PlainItem,
        _ knowledge: inout Knowledge
    ) -> (item: PlainItem, word: String) {
        knowledge.see(item, at: 0)
        let word = knowledge.newWord(.notes, of: item.origin ?? "", at: 0)
        knowledge.conclude([word], .queued)
        var edited = item
        edited.values[.notes] = word
        edited.move(to: "b")
        return (edited, word)
    }

    private static func breaches(_ knowledge: Knowledge) -> [String] {
        knowledge.breaches.map(\.invariant.rawValue)
    }

    @Test func `all is well while nothing is lost`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (edited, _) = Self.edit(item, &knowledge)
        knowledge.observe([item.id: edited], by: Self.push)
        knowledge.look(at: [edited], "edit", by: 0)
        knowledge.judge(shown: [[edited]])
        #expect(Self.breaches(knowledge).isEmpty)
    }

    @Test func `what a process logged before it was killed is heard in the end`() throws {
        let script = Script(seed: 1, length: 0, hazards: .none)
        let executor = SeededExecutor(seed: 1, jobLimit: 1_000_000)
        let history = History(executor.time)
        let breach = try executor.run { executor, _ in
            let world = try await World(script, executor, Coverage(), history)
            let site = try await Site(0, in: world)
            return await withTaskGroup(of: Void.self) { services in
                services.addTask { await world.runBackground() }
                try? await site.bringUp("start")
                _ = site.log.write(Array("h~1~no".utf8))
                await site.kill()
                await site.judge()
                await site.bringDown()
                services.cancelAll()
                return world.oracle.breach
            }
        }
        #expect(breach?.invariant == .nothingOpen)
    }

    @Test func `an accepted edit that is nowhere is missed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        _ = Self.edit(item, &knowledge)
        knowledge.judge(shown: [[item]])
        #expect(Self.breaches(knowledge) == ["I1"])
    }

    @Test func `a value that nobody wrote is noticed`() {
        var knowledge = Knowledge()
        var item = knowledge.scene()
        item.values[.username] = "h~99~us"
        knowledge.observe([item.id: item], by: Self.push)
        #expect(Self.breaches(knowledge) == ["I2"])
    }

    @Test func `what differs here from upstream is noticed at the end`() {
        var knowledge = Knowledge()
        var item = knowledge.scene()
        item.isTrashed = true
        knowledge.judge(shown: [[item]])
        #expect(Self.breaches(knowledge) == ["I3"])
    }

    @Test func `an item that is there twice is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        var other = PlainItem(id: "2", revision: "a")
        (other.origin, other.values) = (item.origin, item.values)
        knowledge.observe(
            ["1": item, "2": other],
            by: .host(0, .create, known: nil, left: .seconds(2))
        )
        #expect(Self.breaches(knowledge) == ["I4"])
    }

    @Test func `a newer edit that gives way to an older one is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (first, _) = Self.edit(item, &knowledge)
        let (second, _) = Self.edit(item, &knowledge)
        knowledge.observe([item.id: second], by: Self.push)
        // The server carries out late what names another revision, if it is within a second.
        var late = knowledge
        let push = Knowledge.Author.host(
            0,
            .push,
            known: "a",
            left: .seconds(2),
            isLate: true
        )
        late.observe([item.id: first], by: push)
        #expect(Self.breaches(late).isEmpty)
        knowledge.observe([item.id: first], by: Self.push)
        #expect(Self.breaches(knowledge).contains("I5"))
    }

    @Test func `an accepted edit that is not shown is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        _ = Self.edit(item, &knowledge)
        knowledge.look(at: [item], "edit", by: 0)
        knowledge.look(at: [item], "restart", by: 0)
        #expect(Self.breaches(knowledge) == ["I6", "I8"])
    }

    @Test func `a value that was known here and never shown is not overwritten`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        knowledge.deliver(nil, of: knowledge.upstream, to: 0, at: .seconds(1))
        var overwritten = item
        overwritten.values[.notes] = knowledge.newWord(.notes, of: item.origin ?? "", at: 0)
        knowledge.observe([item.id: overwritten], by: Self.push)
        #expect(Self.breaches(knowledge) == ["I7"])
    }

    @Test func `a refused edit that arrives is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (edited, word) = Self.edit(item, &knowledge)
        knowledge.conclude([word], .rejected)
        knowledge.observe([item.id: edited], by: Self.push)
        #expect(Self.breaches(knowledge) == ["I8"])
    }

    @Test func `a request before its time is noticed`() {
        var knowledge = Knowledge()
        _ = knowledge.scene()
        knowledge.holds[0] = [false: .seconds(10)]
        knowledge.noteRequest(isIdentity: true, "a token", by: 0, at: .seconds(5))
        #expect(Self.breaches(knowledge).isEmpty)
        knowledge.noteRequest(isIdentity: false, "a sync", by: 0, at: .seconds(5))
        #expect(Self.breaches(knowledge) == ["I12"])
    }

    @Test func `a base that goes back, or nearly goes, is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        knowledge.look(atBase: [item.id: .init(text: "a", ticks: 90_000)], of: 0)
        knowledge.look(atBase: [item.id: .init(text: "0", ticks: 10_000)], of: 0)
        knowledge.look(atBase: [:], of: 0)
        #expect(Self.breaches(knowledge) == ["I13", "I14"])
    }

    @Test func `two lists that each lack a part are not taken for one`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let stamp = Knowledge.Stamp(text: item.revision, ticks: 50_000)
        knowledge.look(atBase: [item.id: stamp], of: 0)
        knowledge.lies[0] = [.partial]
        knowledge.look(atBase: [item.id: stamp], of: 0, isReading: true)
        var other = knowledge
        knowledge.lies[0]?.append(.partial)
        knowledge.look(atBase: [:], of: 0)
        #expect(Self.breaches(knowledge).isEmpty)
        other.look(atBase: [:], of: 0)
        #expect(Self.breaches(other) == ["I14"])
    }

    @Test func `one old list, however often it is shown, takes nothing back`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        knowledge.look(atBase: [item.id: .init(text: item.revision, ticks: 90_000)], of: 0)
        knowledge.lies[0] = [.cached, .cached, .cached]
        knowledge.look(atBase: [item.id: .init(text: "0", ticks: 10_000)], of: 0)
        #expect(Self.breaches(knowledge) == ["I13"])
    }

    @Test func `a wish for the trash, or for an end, that comes to nothing is noticed`() throws {
        var knowledge = Knowledge()
        var item = knowledge.scene()
        let name = try #require(item.origin)
        // What hosts show of a stamp are three digits.
        item.move(to: "2026-01-01T00:00:00.123456Z")
        knowledge.observe([item.id: item], by: .other)
        var shown = item
        shown.move(to: "2026-01-01T00:00:00.123Z")
        knowledge.see(shown, at: 0)
        let seen = knowledge.origins[name]?.changesSeen[0]
        knowledge.origins[name]?.trashings[0] = .init(fate: .queued, changesSeen: seen)
        knowledge.origins[name]?.deletions[0] = .init(fate: .queued, changesSeen: seen)
        var (whole, touched) = (knowledge, knowledge)
        whole.judge(shown: [[item]])
        #expect(Self.breaches(whole) == ["I1", "I1"])

        var theirs = item
        theirs.isFavourite = true
        touched.observe([item.id: theirs], by: .other)
        touched.judge(shown: [[theirs]])
        #expect(Self.breaches(touched).isEmpty)
    }

    @Test func `what an organisation has of it is not for who removed his own`() throws {
        var knowledge = Knowledge(hosts: 2)
        let item = knowledge.scene()
        let name = try #require(item.origin)
        // Others deleted it, each of two hosts brought it back, and one of these was given away.
        knowledge.origins[name]?.deletionsElsewhere = 1
        var given = PlainItem(id: "2", revision: "a")
        (given.values, given.origin, given.isShared) = (item.values, item.origin, true)
        knowledge.observe([item.id: item, given.id: given], by: .other)
        knowledge.see(item, at: 1)
        let seen = knowledge.origins[name]?.changesSeen[1]
        knowledge.origins[name]?.trashings[1] = .init(fate: .queued, changesSeen: seen)
        knowledge.origins[name]?.deletions[1] = .init(fate: .queued, changesSeen: seen)
        var kept = knowledge
        kept.judge(shown: [[item]])
        #expect(Self.breaches(kept) == ["I1", "I1"])
        var trashed = item
        trashed.isTrashed = true
        knowledge.origins[name]?.deletions[1] = nil
        knowledge.observe(
            [item.id: trashed, given.id: given],
            by: .host(1, .trash, known: nil, left: .seconds(2))
        )
        knowledge.judge(shown: [[trashed]])
        #expect(Self.breaches(knowledge).isEmpty)
    }

    @Test func `what one host brings back hides from the other what upstream has forgotten`() {
        var knowledge = Knowledge(hosts: 2)
        let item = knowledge.scene()
        let (edited, word) = Self.edit(item, &knowledge)
        knowledge.observe([item.id: edited], by: Self.push)
        let theirs = [PlainField.name, .username].map {
            knowledge.newWord($0, of: item.origin ?? "", at: 1)
        }
        knowledge.conclude([word] + theirs, .saved)
        var both = edited
        (both.values[.name], both.values[.username]) = (theirs[0], theirs[1])
        both.move(to: "c")
        knowledge.observe([item.id: both], by: .host(1, .push, known: "b", left: .seconds(3)))
        knowledge.observe([item.id: item], by: .rollBack)
        var moved = knowledge
        moved.moveOn()
        moved.judge(shown: [[item], [item]])
        #expect(Self.breaches(moved).isEmpty)
        var back = item
        back.values[.name] = theirs[0]
        back.move(to: "d")
        knowledge.observe([item.id: back], by: .host(1, .push, known: "a", left: .seconds(4)))
        knowledge.judge(shown: [[back], [back]])
        // Whoever brings back the name has found out, and owes the username.
        #expect(Self.breaches(knowledge) == ["I1"])
    }

    @Test func `a copy of what nobody else has written is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        _ = Self.edit(item, &knowledge)
        var copy = PlainItem(id: "2", revision: "a")
        (copy.values, copy.origin, copy.stamp) = (item.values, item.origin, " (backup)")
        var contested = knowledge
        knowledge.observe([item.id: item, copy.id: copy], by: Self.push)
        #expect(Self.breaches(knowledge) == ["I4"])

        _ = contested.newWord(.name, of: item.origin ?? "", at: nil)
        contested.observe([item.id: item, copy.id: copy], by: Self.push)
        #expect(Self.breaches(contested).isEmpty)
    }

    @Test func `what others write while an answer is on its way was not known here`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let told = knowledge.upstream
        var theirs = item
        theirs.values[.notes] = knowledge.newWord(.notes, of: item.origin ?? "", at: nil)
        knowledge.observe([item.id: theirs], by: .other)
        knowledge.see(item, at: 0)
        knowledge.deliver(nil, of: told, to: 0, at: .seconds(1))
        knowledge.observe([:], by: .host(0, .delete, known: nil, left: .seconds(2)))
        #expect(Self.breaches(knowledge).isEmpty)
    }

    @Test func `what was saved and is upstream is shown`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (edited, word) = Self.edit(item, &knowledge)
        knowledge.conclude([word], .saved)
        knowledge.observe([item.id: edited], by: Self.push)
        knowledge.look(at: [item], "while", by: 0, isWhole: false)
        #expect(Self.breaches(knowledge).isEmpty)
        knowledge.look(at: [item], "while", by: 0)
        #expect(Self.breaches(knowledge) == ["I6"])
    }

    @Test func `what was shown is there for who edits it, unless others have deleted it`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        knowledge.miss(item.origin ?? "")
        #expect(Self.breaches(knowledge) == ["I6"])
        knowledge.observe([:], by: .other)
        knowledge.miss(item.origin ?? "")
        #expect(Self.breaches(knowledge) == ["I6"])
    }

    @Test func `what is written into the trash, where others have put it, is noticed`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (written, word) = Self.edit(item, &knowledge)
        var edited = written
        knowledge.words[word]?.isLive = true
        var trashed = item
        trashed.isTrashed = true
        knowledge.observe([item.id: trashed], by: .other)
        knowledge.deliver(nil, of: knowledge.upstream, to: 0, at: .seconds(1))
        edited.isTrashed = true
        knowledge.observe([item.id: edited], by: Self.push)
        #expect(Self.breaches(knowledge) == ["I1"])
    }

    @Test func `a list whose stamps have lost their digits tells nobody of the trash`() {
        var knowledge = Knowledge()
        knowledge.hasOddStamps = true
        let item = knowledge.scene()
        let (written, word) = Self.edit(item, &knowledge)
        var edited = written
        knowledge.words[word]?.isLive = true
        var trashed = item
        trashed.isTrashed = true
        knowledge.observe([item.id: trashed], by: .other)
        knowledge.deliver(nil, of: knowledge.upstream, to: 0, at: .seconds(1))
        edited.isTrashed = true
        // Who has asked for the item by itself knows it.
        var told = knowledge
        told.deliver(item.id, of: told.upstream, to: 0, at: .seconds(1))
        told.observe([item.id: edited], by: Self.push)
        #expect(Self.breaches(told) == ["I1"])
        knowledge.observe([item.id: edited], by: Self.push)
        #expect(Self.breaches(knowledge).isEmpty)
    }

    @Test func `a refused edit gives way to anything`() {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (edited, word) = Self.edit(item, &knowledge)
        knowledge.observe([item.id: edited], by: Self.push)
        knowledge.conclude([word], .rejected)
        knowledge.observe([item.id: item], by: .host(0, .push, known: "b", left: .seconds(3)))
        #expect(Self.breaches(knowledge).isEmpty)
    }

    @Test func `to one host the other is somebody else`() {
        var knowledge = Knowledge(hosts: 2)
        let item = knowledge.scene()
        let (edited, word) = Self.edit(item, &knowledge)
        knowledge.observe([item.id: edited], by: Self.push)
        let push = Knowledge.Author.host(1, .push, known: "b", left: .seconds(3))
        var theirs = edited
        theirs.values[.notes] = knowledge.newWord(.notes, of: item.origin ?? "", at: 1)
        // A race, which nobody can know of.
        var race = knowledge
        race.observe([item.id: theirs], by: push)
        #expect(Self.breaches(race).isEmpty)
        // It was shown to who wrote over it.
        var seen = knowledge
        seen.see(edited, at: 1)
        seen.observe([item.id: theirs], by: push)
        #expect(Self.breaches(seen).isEmpty && seen.words[word]?.isExcused == true)
        // It was known at the other host, and shown to nobody.
        knowledge.deliver(nil, of: knowledge.upstream, to: 1, at: .seconds(2))
        knowledge.observe([item.id: theirs], by: push)
        #expect(Self.breaches(knowledge) == ["I7"])
    }

    /// When a password comes from here, and when over it what another device makes of the item of 23:00:00.100;
    /// whether its history is full by the time anybody can read it here, and whether it has to be kept.
    @Test(arguments: [
        ("23:00:00.900", "23:05:00.000", false, true), ("23:00:00.900", "23:00:01.500", true, true),
        ("23:00:00.900", "23:05:00.000", true, false),
        ("23:00:09.900", "23:05:00.000", false, false),
    ])
    func `a password that was written over unseen, as servers let one, has to be kept`(
        _ mine: String,
        _ theirs: String,
        _ isFull: Bool,
        _ isOwed: Bool
    ) throws {
        var knowledge = Knowledge()
        var item = knowledge.scene()
        let name = try #require(item.origin)
        item.move(to: "2026-11-21T23:00:00.100Z")
        knowledge.observe([item.id: item], by: .other)
        func edit(at time: String, by host: Int?) -> PlainItem {
            var edited = item
            let word = knowledge.newWord(.password, of: name, at: host)
            knowledge.conclude([word], .queued)
            edited.values[.password] = word
            edited.move(to: "2026-11-21T\(time)Z")
            return edited
        }
        let own = edit(at: mine, by: 0)
        let push = Knowledge.Author.host(0, .push, known: item.revision, left: .seconds(2))
        knowledge.observe([item.id: own], by: push)
        var other = edit(at: theirs, by: nil)
        knowledge.observe([item.id: other], by: .stale(item.revision))
        if isFull {
            other.move(to: "2026-11-21T23:10:00.000Z")
            other.history = (1...5).map { "former \($0)" }
            knowledge.observe([item.id: other], by: .other)
        }
        var kept = knowledge
        knowledge.judge(shown: [[other]])
        #expect(Self.breaches(knowledge) == (isOwed ? ["I1"] : []))
        var copy = PlainItem(id: "2", revision: other.revision)
        (copy.values, copy.origin, copy.stamp) = (own.values, name, " - then")
        kept.observe(
            [item.id: other, "2": copy],
            by: .host(0, .backup, known: nil, left: .seconds(9))
        )
        kept.judge(shown: [[other, copy]])
        #expect(Self.breaches(kept).isEmpty)
    }

    @Test(arguments: PlainItem.Mark.allCases, [false, true])
    func `what was marked here and nobody else has touched since is so at the end`(
        _ mark: PlainItem.Mark,
        isTouched: Bool
    ) throws {
        var knowledge = Knowledge()
        var item = knowledge.scene()
        let name = try #require(item.origin)
        knowledge.see(item, at: 0)
        knowledge.mark(name, mark, true, at: 0)
        if isTouched {
            item.move(to: "b")
            knowledge.observe([item.id: item], by: .other)
        }
        knowledge.judge(shown: [[item]])
        #expect(Self.breaches(knowledge) == (isTouched ? [] : ["I1"]))
    }

    @Test func `what is written after a discard or a deletion is wanted all the same`() throws {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let name = try #require(item.origin)
        _ = Self.edit(item, &knowledge)
        var deleted = knowledge
        knowledge.discard(name, withWords: true, at: 0)
        _ = deleted.delete(name, at: 0)
        for knowledge in [knowledge, deleted] {
            var (one, later) = (knowledge, knowledge)
            _ = Self.edit(item, &later)
            one.judge(shown: [[item]])
            later.judge(shown: [[item]])
            #expect(Self.breaches(one).isEmpty && Self.breaches(later) == ["I1"])
        }
    }

    @Test func `a discard takes nothing along that upstream had, and has forgotten, beneath it`()
        throws
    {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let (first, _) = Self.edit(item, &knowledge)
        knowledge.observe([item.id: first], by: Self.push)
        let (second, _) = Self.edit(first, &knowledge)
        knowledge.observe([item.id: item], by: .rollBack)
        let name = try #require(item.origin)
        var seen = knowledge
        knowledge.discard(name, withWords: true, content: second.words, at: 0)
        knowledge.judge(shown: [[item]])
        #expect(Self.breaches(knowledge) == ["I1"])
        // What is offered once more may be discarded, too.
        seen.discard(name, withWords: true, content: first.words, at: 0)
        seen.judge(shown: [[item]])
        #expect(Self.breaches(seen).isEmpty)
    }

    @Test func `a password that another has replaced is in the history, and is there once`() throws
    {
        var knowledge = Knowledge()
        var item = knowledge.scene()
        let name = try #require(item.origin)
        let words = (0..<2).map { _ in knowledge.newWord(.password, of: name, at: 0) }
        knowledge.conclude(words, .saved)
        item.values[.password] = words[1]
        let cases: [(history: [String], breaches: [String])] = [
            ([words[0]], []), ([], ["I1"]), (words, ["I2"]),
        ]
        for (history, breaches) in cases {
            var (one, item) = (knowledge, item)
            item.history = history
            item.sealed[.notes] = "another"
            one.observe([item.id: item], by: Self.push)
            one.judge(shown: [[item]])
            #expect(Self.breaches(one) == breaches)
        }
    }

    @Test func `at the end each host shows what is upstream`() {
        var knowledge = Knowledge(hosts: 2)
        let item = knowledge.scene()
        knowledge.judge(shown: [[item], [item]])
        #expect(Self.breaches(knowledge).isEmpty)
        knowledge.judge(shown: [[item], []])
        #expect(Self.breaches(knowledge) == ["I3"])
    }

    @Test func `a deletion destroys nothing that was known and never shown`() {
        var knowledge = Knowledge()
        _ = knowledge.scene()
        knowledge.deliver(nil, of: knowledge.upstream, to: 0, at: .seconds(1))
        knowledge.observe([:], by: .host(0, .delete, known: nil, left: .seconds(2)))
        #expect(Self.breaches(knowledge) == ["I15", "I15"])
    }

    @Test func `what is stamped earlier passes for what was deleted before upstream forgot`()
        throws
    {
        var knowledge = Knowledge()
        let item = knowledge.scene()
        let name = try #require(item.origin)
        var theirs = item
        theirs.values[.notes] = knowledge.newWord(.notes, of: name, at: nil)
        theirs.move(to: "b")
        knowledge.see(item, at: 0)
        knowledge.hasFallenBack = true
        knowledge.observe([item.id: theirs], by: .other)
        knowledge.deliver(nil, of: knowledge.upstream, to: 0, at: .seconds(1))
        knowledge.origins[name]?.stampSeen[0] = "c"
        var odd = knowledge
        odd.hasOddStamps = true
        for wrong in [true, false] {
            var one = wrong ? odd : knowledge
            one.observe([:], by: .host(0, .delete, known: nil, left: .seconds(2)))
            #expect(Self.breaches(one).contains("I15") != wrong)
        }
    }
}

extension Knowledge {
    /// Somebody else's item, which is upstream, and known of.
    fileprivate mutating func scene() -> PlainItem {
        var item = PlainItem(id: "1", revision: "a")
        let origin = newOrigin(at: nil)
        item.origin = origin
        item.values[.name] = newWord(.name, of: origin, at: nil)
        item.values[.notes] = newWord(.notes, of: origin, at: nil)
        observe([item.id: item], by: .other)
        return item
    }
}

extension PlainItem {
    /// The same at another revision.
    fileprivate mutating func move(to text: String) {
        var other = PlainItem(id: id, revision: text)
        (other.values, other.origin) = (values, origin)
        self = other
    }
}
