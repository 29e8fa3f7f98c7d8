import Testing
import Vault

@Suite struct PendingChangeTests {
    @Test(arguments: [
        (nil, ChangeType.update), ("", .update), ("archive", .update), ("create", .create),
    ])
    func `R-006 a type that is absent or unknown is shown as an update`(
        _ text: String?,
        _ type: ChangeType
    ) {
        #expect(ChangeType.shown(for: text) == type)
    }

    @Test func `T-70 an unknown type is shown as an update and stays recognisable`() {
        var change = PendingChange.sample(.hardDelete)
        change.foreignType = "restoreSomewhere"
        #expect(change.type == .update)
        #expect(change.foreignType == "restoreSomewhere")
    }

    @Test func `each intent has the type of its name`() {
        #expect(Intent.samples.map(\.type).contains(.create))
        for intent in Intent.samples {
            #expect(PendingChange.sample(intent).type == intent.type)
        }
    }

    @Test(arguments: [Attempt.Outcome.unknown, .refused])
    func `however often the same is sent, at most two notes are left`(_ outcome: Attempt.Outcome) {
        var change = PendingChange.sample(.hardDelete)
        for round in 1...5 {
            change.note(Attempt(.update, at: Moment(ticks: Int64(round)), fingerprint: [1]))
            change.concludeAttempt(outcome)
        }
        #expect(change.attempts.map(\.moment.ticks) == (outcome == .refused ? [5] : [4, 5]))
        #expect(change.attemptCount == 5)
    }

    @Test(arguments: [Attempt.Kind.create, .update, .trash, .restore, .archive, .unarchive])
    func `a refusal says nothing about an earlier try that was never answered`(
        _ kind: Attempt.Kind
    ) {
        let fingerprint: [UInt8] = [.create, .update].contains(kind) ? [1] : []
        var change = PendingChange.sample(.hardDelete)
        for round in 1...3 {
            let moment = Moment(ticks: Int64(round))
            change.note(Attempt(kind, at: moment, fingerprint: fingerprint))
            if round > 1 { change.concludeAttempt(.refused) }
            #expect(change.mayHaveLanded(kind), "try \(round)")
        }
        #expect(change.attempts.map(\.outcome) == [.unknown, .refused])
    }

    @Test func `a create that timed out and then was refused is not forgotten when it is trashed`()
        throws
    {
        var change = PendingChange.sample(.create(.sample("new"), .none))
        change.note(Attempt(.create, at: Moment(ticks: 1), fingerprint: [1]))
        change.note(Attempt(.create, at: Moment(ticks: 2), fingerprint: [1]))
        change.concludeAttempt(.refused)
        let folding = change.fold(Edit(.trash, at: Moment(ticks: 300)))
        #expect(try #require(folding.change).intent.trash == .trashed)
    }

    @Test func `refused attempts are forgotten from the oldest, unanswered ones never`() {
        var change = PendingChange.sample(.hardDelete)
        for round in 0..<100 {
            change.note(Attempt(.update, at: Moment(ticks: 0), fingerprint: [UInt8(round)]))
            if round % 2 == 0 { change.concludeAttempt(.refused) }
        }
        #expect(change.attempts.filter { $0.outcome == .unknown }.count == 50)
        #expect(change.attempts.filter { $0.outcome == .refused }.count <= 17)
        #expect(change.attemptCount == 100)
    }

    @Test func `what was sent without an answer may have landed, what was refused has not`() {
        var change = PendingChange.sample(.hardDelete)
        #expect(!change.mayHaveLanded(.trash))
        change.note(Attempt(.trash, at: Moment(ticks: 0)))
        #expect(change.mayHaveLanded(.trash))
        change.concludeAttempt(.refused)
        #expect(!change.mayHaveLanded(.trash))
    }

    @Test(arguments: [Attempt.Outcome.unknown, .refused])
    func `T-38 what was sealed here is nobody else's, also if it was refused when it came again`(
        _ outcome: Attempt.Outcome
    ) throws {
        let samples = try Samples()
        let mine = try samples.cipher(#"{"type":1,"name":"mine"}"#)
        var change = PendingChange.sample(.hardDelete)
        change.note(Attempt(.update, at: Moment(ticks: 150), fingerprint: mine.fingerprint))
        change.concludeAttempt(outcome)
        let clock = ClockReading(
            now: Samples.now,
            note: ClockNote(offsetTicks: 0, bootID: "boot", elapsedTicks: 0)
        )
        func standing(_ copy: Cipher) -> Situation.Standing {
            Situation(of: change, upstream: copy, keys: samples.keys, by: clock).standing
        }
        #expect(standing(mine) == .ours)
        #expect(standing(try samples.cipher(#"{"type":1,"name":"mine"}"#)) != .ours)
    }
}
