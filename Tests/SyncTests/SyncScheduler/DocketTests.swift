import Testing
import Vault

@testable import Messaging
@testable import Sync

/// What comes first, and who hears of it.
@Suite struct DocketTests {
    private typealias Work = Docket.Job.Work

    /// Far enough away that nothing of it is due here.
    private var docket = Docket(interval: .seconds(1_800), at: .zero)

    private static func asker() -> Docket.Asker { Reply(into: Slot()) }

    private mutating func next(at second: Int = 0) throws -> Docket.Job {
        guard case .run(let job) = docket.step(at: .seconds(second)) else {
            throw Undelivered.unanswered
        }
        return job
    }

    private mutating func finish(_ ending: Agenda.Ending = .done, at second: Int = 0) {
        _ = docket.end(
            ending,
            due: nil,
            waitsForDue: false,
            hasMoved: true,
            at: .seconds(second),
            chance: 0
        )
        docket.release()
    }

    @Test mutating func `all who wait for a sync are served by one`() throws {
        docket.ask(isFull: false, Self.asker())
        docket.ask(isFull: true, Self.asker())
        let job = try next()
        #expect(job.work == .sync(isFull: true, isInsistent: true))
        #expect(job.askers.count == 2)
        #expect(!docket.isAsked)
    }

    @Test mutating func `a full sync that was wished once is not wished for ever`() throws {
        docket.ask(isFull: true, Self.asker())
        _ = try next()
        finish()
        docket.ask(isFull: false, Self.asker())
        #expect(try next().work == .sync(isFull: false, isInsistent: true))
    }

    @Test mutating func `one who asks during a run hears of the next`() throws {
        docket.ask(isFull: false, Self.asker())
        let first = try next()
        docket.ask(isFull: false, Self.asker())
        guard case .sleep = docket.step(at: .zero) else {
            Issue.record("Two runs are under way.")
            return
        }
        finish()
        let second = try next()
        #expect(first.askers.count == 1 && second.askers.count == 1)
        #expect(second.number > first.number)
    }

    @Test mutating func `single changes go first, in the order of the asking`() throws {
        docket.ask(isFull: false, Self.asker())
        for change in ["b", "a", "b"] { docket.ask(retryOf: change, Self.asker()) }
        var (works, askers): ([Work], [Int]) = ([], [])
        while docket.isAsked {
            let job = try next()
            works.append(job.work)
            askers.append(job.askers.count)
            finish()
        }
        let whole = Work.sync(isFull: false, isInsistent: true)
        #expect(works == [.retry(changeID: "b"), .retry(changeID: "a"), whole])
        #expect(askers == [2, 1, 1])
    }

    @Test mutating func `trying one change takes no wish from the others`() throws {
        docket.note(.unlocked, at: .zero, isOnline: true, chance: 0)
        docket.ask(retryOf: "a", Self.asker())
        _ = try next()
        finish(.untouched)
        let job = try next()
        #expect(job.occasion == .unlocked)
        #expect(job.work == .sync(isFull: false, isInsistent: false) && job.askers.isEmpty)
    }

    @Test mutating func `what is wished while a run waits for its turn is served by it`() throws {
        docket.note(.unlocked, at: .zero, isOnline: true, chance: 0)
        let job = try next()
        docket.note(.networkReturned, at: .seconds(1), isOnline: true, chance: 0)
        let begins = docket.takesTurn(job, at: .seconds(2))
        #expect(begins)
        finish(at: 3)
        guard case .sleep = docket.step(at: .seconds(3)) else {
            Issue.record("The same is done twice.")
            return
        }
    }

    @Test mutating func `at the end only what somebody waits for has its turn`() throws {
        docket.note(.unlocked, at: .zero, isOnline: true, chance: 0)
        let unasked = try next()
        docket.close()
        let begins = docket.takesTurn(unasked, at: .zero)
        #expect(!begins)
        #expect(docket.isIdle, "What does not begin is not under way.")

        var asked = Docket(interval: .seconds(1_800), at: .zero)
        asked.ask(isFull: false, Self.asker())
        guard case .run(let job) = asked.step(at: .zero) else {
            Issue.record("Nothing has begun.")
            return
        }
        asked.close()
        let goesOn = asked.takesTurn(job, at: .zero)
        #expect(goesOn)
    }

    @Test mutating func `nothing new begins at the end, and everybody who waits is handed out`() {
        docket.ask(isFull: false, Self.asker())
        docket.ask(retryOf: "a", Self.asker())
        docket.ask(retryOf: "a", Self.asker())
        docket.close()
        let isSomethingNew = docket.step(at: .zero) != nil
        #expect(!isSomethingNew)
        let (handedOut, again) = (docket.takeAskers(), docket.takeAskers())
        #expect(handedOut.count == 3 && again.isEmpty)
        #expect(docket.isIdle)
    }
}
