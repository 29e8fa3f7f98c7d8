import System
import Testing

@testable import Vault

@Suite struct AgendaTests {
    private func agenda() -> Agenda { Agenda(interval: .seconds(1_000)) }

    private func at(_ seconds: Double) -> Duration { .seconds(seconds) }

    @Test func `after a run that did everything the interval is next, a tenth of it by chance`() {
        for (chance, seconds) in [(0.0, 900.0), (0.5, 1_000.0), (0.75, 1_050.0)] {
            var agenda = agenda()
            agenda.begin(.asked, at: .zero)
            agenda.end(.done, due: nil, at: .zero, chance: chance)
            #expect(agenda.next?.occasion == .interval)
            #expect(agenda.next?.moment == at(seconds))
        }
    }

    @Test func `G-R3 what is queued while nobody is there waits as if it had been sent in vain`() {
        var agenda = agenda()
        agenda.note(.queued, at: at(10), isOnline: false, chance: 0.5)
        #expect(agenda.wait == Agenda.Wait(until: at(13.75), length: at(3.75)))
        #expect(agenda.nextQueued == at(13.75))
        agenda.note(.queued, at: at(11), isOnline: false, chance: 1)
        #expect(agenda.wait?.until == at(13.75), "More that waits makes it no longer.")
        agenda.note(.networkReturned, at: at(12))
        #expect(agenda.next?.moment == at(12))
    }

    @Test func `G-R3 a run that would have nothing to do waits for what is due`() {
        for (waitsForDue, moment) in [(true, 30.0), (false, 2.5)] {
            var agenda = agenda()
            agenda.begin(.queued, at: .zero)
            let wait = agenda.end(
                .failed(nil),
                due: at(30),
                waitsForDue: waitsForDue,
                at: .zero,
                chance: 0
            )
            let made = Agenda.Wait(until: at(moment), length: at(moment), newUntil: at(2.5))
            #expect(wait == made)
            #expect(agenda.next?.moment == at(moment))
        }
        var agenda = agenda()
        agenda.begin(.queued, at: .zero)
        let wait = agenda.end(.failed(nil), due: .zero, waitsForDue: true, at: .zero, chance: 0)
        #expect(wait?.length == at(2.5), "Something is ready.")
    }

    @Test func `what is queued puts off no run that is owed`() {
        var agenda = agenda()
        agenda.begin(.queued, at: .zero)
        agenda.end(.failed(nil), due: nil, at: .zero, chance: 0)
        agenda.note(.queued, at: at(2.6), isOnline: false, chance: 1)
        #expect(agenda.occasion(at: at(2.6)) == .retry)
        agenda.begin(.retry, at: at(2.6))
        agenda.note(.queued, at: at(2.7), isOnline: false, chance: 1)
        agenda.end(.untouched, due: nil, at: at(2.8), chance: 0)
        #expect(agenda.next.map { $0.moment < at(6) } == true)
    }

    @Test func `G-R3 who asks while something is queued and nobody was asked yet has failed once`()
    {
        var agenda = agenda()
        agenda.note(.queued, at: .zero, isOnline: false, chance: 0)
        agenda.begin(.asked, at: at(1))
        let wait = agenda.end(.failed(nil), due: .zero, waitsForDue: true, at: at(1), chance: 0)
        #expect(wait?.length == at(2.5) && agenda.failures == 1)
        agenda.begin(.asked, at: at(2))
        #expect(agenda.end(.failed(nil), due: .zero, at: at(2), chance: 0) == nil)
    }

    @Test func `what is new waits for the backoff, and not for what is due later`() {
        var agenda = agenda()
        agenda.begin(.queued, at: .zero)
        agenda.end(.failed(nil), due: at(30), waitsForDue: true, at: .zero, chance: 0)
        agenda.note(.queued, at: at(1))
        #expect(agenda.next?.moment == at(2.5) && agenda.next?.occasion == .queued)
        #expect(agenda.wait == Agenda.Wait(until: at(2.5), length: at(2.5)))
    }

    @Test func `what is new ends no wait that has come since`() {
        var agenda = agenda()
        agenda.begin(.queued, at: .zero)
        agenda.end(.failed(nil), due: at(30), waitsForDue: true, at: .zero, chance: 0)
        agenda.begin(.asked, at: at(5))
        agenda.end(.paced(until: at(100)), due: at(30), at: at(5), chance: 0)
        agenda.note(.queued, at: at(6))
        #expect(agenda.next?.moment == at(102.5))
    }

    @Test func `however often something is queued while nobody is there, the wait stays`() {
        var agenda = agenda()
        agenda.begin(.queued, at: .zero)
        agenda.end(.failed(nil), due: at(30), waitsForDue: true, at: .zero, chance: 0)
        agenda.note(.queued, at: at(5), isOnline: false, chance: 0)
        for second in 6..<8 {
            agenda.note(.queued, at: at(Double(second)), isOnline: false, chance: 1)
        }
        #expect(agenda.next?.moment == at(7.5))
    }

    @Test func `the earliest wish counts, and a run serves them all`() {
        var agenda = agenda()
        agenda.note(.upstreamChanged, at: at(5))
        agenda.note(.upstreamChanged, at: at(5.5))
        agenda.note(.unlocked, at: at(5.6))
        #expect(agenda.next?.occasion == .unlocked)
        agenda.begin(.unlocked, at: at(6.1))
        #expect(agenda.next == nil)
        agenda.note(.queued, at: at(6.5))
        agenda.end(.done, due: nil, at: at(7.5), chance: 0)
        #expect(agenda.next?.occasion == .queued, "A wish that came during the run is lost.")
        #expect(agenda.occasion(at: at(7.5)) == .queued)
    }

    @Test func `what was missed or told before a run looks needs no run of its own`() {
        var agenda = agenda()
        agenda.begin(.networkReturned, at: at(1))
        agenda.note(.reconnected, at: at(1.9))
        agenda.note(.upstreamChanged, at: at(1))
        agenda.look(at: at(2))
        agenda.end(.done, due: nil, at: at(3), chance: 0.5)
        #expect(agenda.next?.occasion == .interval)
    }

    @Test func `what was told just before a run begins may not be seen by it yet`() {
        var agenda = agenda()
        agenda.note(.upstreamChanged, at: at(1.5))
        agenda.begin(.asked, at: at(2))
        agenda.look(at: at(2.2))
        agenda.end(.done, due: nil, at: at(2.4), chance: 0.5)
        #expect(agenda.next?.occasion == .upstreamChanged)
        #expect(agenda.next?.moment == at(2.5))
    }

    @Test
    func `what was told just now may not be seen yet, and what comes later is not seen at all`() {
        for (told, occasion) in [(1.5, Agenda.Occasion.upstreamChanged), (2.1, .reconnected)] {
            var agenda = agenda()
            agenda.begin(.networkReturned, at: at(1))
            if told < 2 { agenda.note(occasion, at: at(told)) }
            agenda.look(at: at(2))
            if told > 2 { agenda.note(occasion, at: at(told)) }
            agenda.end(.done, due: nil, at: at(3), chance: 0.5)
            #expect(agenda.next?.occasion == occasion)
        }
    }

    @Test(arguments: [
        Agenda.Ending.failed(nil), .doubted, .untouched, .paced(until: .seconds(2)),
    ])
    func `a look that came to nothing has answered nothing`(_ ending: Agenda.Ending) {
        var agenda = agenda()
        agenda.begin(.asked, at: at(1))
        agenda.note(.reconnected, at: at(1))
        agenda.look(at: at(2))
        agenda.end(ending, due: nil, at: at(2), chance: 0.5)
        let next = agenda.next?.moment ?? at(1_000)
        #expect(next < at(60))
        agenda.begin(.asked, at: next)
        agenda.end(.done, due: nil, at: next, chance: 0.5)
        #expect(agenda.next?.occasion == .interval, "A run that begins serves what was given back.")
    }

    @Test(arguments: Agenda.Occasion.allCases.filter { $0 != .moved })
    func `nothing passes upstream's own "not before"`(_ occasion: Agenda.Occasion) {
        var agenda = agenda()
        agenda.begin(.interval, at: .zero)
        let wait = agenda.end(
            .failed(.throttled(until: at(37))),
            due: .zero,
            at: .zero,
            chance: 0.9
        )
        #expect(wait == Agenda.Wait(until: at(37), length: at(37)))
        agenda.note(occasion, at: at(1))
        #expect(agenda.next?.moment == at(37))
        #expect(agenda.hold(at: at(36)) == at(37))
        #expect(agenda.hold(at: at(37)) == nil)
    }

    @Test(arguments: Agenda.Occasion.allCases)
    func `the backoff is passed by news of the network and by people, and by nothing else`(
        _ occasion: Agenda.Occasion
    ) {
        var agenda = agenda()
        agenda.begin(.interval, at: .zero)
        agenda.end(.failed(nil), due: nil, at: .zero, chance: 0)
        agenda.note(occasion, at: at(1))
        let passes: Set<Agenda.Occasion> = [
            .networkReturned, .signedIn, .moved, .standstill, .asked,
        ]
        let expected = passes.contains(occasion) ? at(1) : at(2.5)
        #expect(agenda.next?.moment == expected)
    }

    @Test func `who fails now and then and takes the rest is not waited for ever longer`() {
        var agenda = agenda()
        for _ in 0..<5 {
            agenda.begin(.retry, at: .zero)
            let wait = agenda.end(.interrupted, due: nil, at: .zero, chance: 0)
            #expect(wait?.length == at(2.5) && agenda.next?.occasion == .retry)
        }
        agenda.begin(.retry, at: .zero)
        #expect(agenda.end(.failed(nil), due: nil, at: .zero, chance: 0)?.length == at(5))
    }

    @Test func `what one server has said or not said is nothing to another`() {
        var agenda = agenda()
        for _ in 0..<5 {
            agenda.begin(.interval, at: .zero)
            agenda.end(.failed(.throttled(until: at(600))), due: nil, at: .zero, chance: 0)
        }
        agenda.note(.moved, at: at(1))
        #expect(agenda.occasion(at: at(1)) == .moved)
        #expect(agenda.hold(at: at(1)) == nil)
        agenda.begin(.moved, at: at(1))
        let wait = agenda.end(.failed(nil), due: nil, at: at(2), chance: 0)
        #expect(agenda.failures == 1)
        #expect(wait?.length == at(2.5), "It is the first failure there.")
    }

    @Test func `returns that bring nothing are heeded less and less, until one brings something`() {
        var agenda = agenda()
        var now = Duration.zero
        var waits: [Duration] = []
        for _ in 0..<12 {
            agenda.note(.networkReturned, at: now)
            let start = agenda.next?.moment ?? .zero
            waits.append(start - now)
            now = start
            agenda.begin(.networkReturned, at: now)
            agenda.end(.failed(nil), due: nil, at: now, chance: 1)
        }
        #expect(waits.prefix(5) == [.zero, at(5), at(10), at(20), at(40)])
        #expect(waits.last == at(900))
        agenda.begin(.asked, at: now)
        agenda.end(.done, due: nil, at: now, chance: 0)
        agenda.note(.networkReturned, at: now)
        #expect(agenda.next?.moment == now)
    }

    @Test func `an answer that is hard to believe ends what an earlier failure waits for`() {
        var agenda = agenda()
        for _ in 0..<12 {
            agenda.begin(.interval, at: .zero)
            agenda.end(.failed(nil), due: nil, at: .zero, chance: 0)
        }
        agenda.begin(.networkReturned, at: at(1))
        agenda.end(.doubted, due: at(20), at: at(2), chance: 0)
        #expect(agenda.next?.moment == at(20))
    }

    @Test func `what waits for its own time comes at that time`() {
        var agenda = agenda()
        agenda.begin(.interval, at: .zero)
        agenda.end(.waiting, due: at(77), at: at(1), chance: 0)
        #expect(agenda.next?.moment == at(77))
        #expect(agenda.next?.occasion == .due)
        #expect(agenda.failures == 0)
    }

    @Test func `what is in somebody's hands is looked after, less and less often`() {
        var agenda = agenda()
        var waits: [Duration] = []
        for _ in 0..<4 {
            agenda.begin(.interval, at: .zero)
            agenda.end(.waiting, due: nil, at: .zero, chance: 0)
            waits.append(agenda.next?.moment ?? .zero)
        }
        #expect(waits == [at(2.5), at(5), at(10), at(20)])
    }

    @Test func `who has to sign in is not asked for at any due time, but at the interval`() {
        var agenda = agenda()
        agenda.begin(.interval, at: .zero)
        agenda.end(.signedOut, due: .zero, at: .zero, chance: 0)
        #expect(agenda.next?.occasion == .interval)
        agenda.note(.signedIn, at: at(3))
        #expect(agenda.next?.moment == at(3))
    }

    @Test func `what is not tried for a while is not planned earlier, and not for all at once`() {
        let waits = [0, 0.5, 0.75].map { chance in
            var agenda = agenda()
            agenda.begin(.interval, at: .zero)
            let wait = agenda.end(
                .failed(.held(until: at(60))),
                due: nil,
                at: .zero,
                chance: chance
            )
            #expect(agenda.hold == nil, "Only upstream's own word holds everybody.")
            return wait?.until
        }
        #expect(waits == [at(62.5), at(63.75), at(64.375)])
    }

    @Test func `what was planned is taken up after a restart, whoever set the clock`() {
        var agenda = agenda()
        agenda.restore(
            hold: at(1_000_000),
            wait: nil,
            failures: 3,
            due: at(5),
            interval: at(600),
            at: .zero
        )
        #expect(agenda.next?.moment == Agenda.longestHold)
        agenda.begin(.retry, at: Agenda.longestHold)
        agenda.end(.failed(nil), due: nil, at: Agenda.longestHold, chance: 0)
        #expect(agenda.failures == 4)
    }

    /// Whatever happens in whatever order: something is always planned, nothing before upstream's word,
    /// and after a failure nothing of its own accord before the backoff.
    @Test(arguments: 1...200)
    func `there is always a next run, and never one too early`(_ seed: UInt64) {
        let chance = SeededChance(seed: seed)
        var agenda = agenda()
        var now = Duration.zero
        agenda.restore(hold: nil, wait: nil, failures: 0, due: nil, interval: now, at: now)
        for step in 0..<300 {
            now += .milliseconds(chance.number(in: 0..<20_000))
            let occasion = Agenda.Occasion.allCases[chance.number(in: 0..<13)]
            if chance.number(in: 0..<3) == 0 {
                agenda.note(occasion, at: now, isOnline: chance.number(in: 0..<2) == 0)
            }
            guard let next = agenda.next else {
                Issue.record("Seed \(seed), step \(step): nothing is planned.")
                return
            }
            #expect(next.moment >= agenda.hold ?? .zero, "Seed \(seed), step \(step)")
            if !next.occasion.passesBackoff {
                #expect(next.moment >= agenda.wait?.until ?? .zero, "Seed \(seed), step \(step)")
            }
            guard let due = agenda.occasion(at: now) else { continue }
            agenda.begin(due, at: now)
            let endings: [Agenda.Ending] = [
                .done, .waiting, .paced(until: now), .failed(nil),
                .failed(.throttled(until: now + .seconds(37))),
                .failed(.held(until: now + .seconds(12))), .interrupted, .doubted, .signedOut,
                .unfinished,
                .untouched,
            ]
            now += .milliseconds(chance.number(in: 0..<5_000))
            agenda.end(
                endings[chance.number(in: 0..<endings.count)],
                due: chance.number(in: 0..<2) == 0 ? nil : now + .seconds(3),
                at: now,
                chance: chance.fraction()
            )
        }
    }
}

@Suite struct VigilTests {
    @Test func `it speaks once, and again only after something moved`() {
        var vigil = Vigil(at: .zero)
        let patience = Vigil.patience
        #expect(vigil.look(at: patience - .seconds(1), waiting: 1, onlineSince: .zero) == .fine)
        #expect(vigil.look(at: patience, waiting: 1, onlineSince: .zero) == .stuck(isNews: true))
        #expect(vigil.look(at: patience, waiting: 1, onlineSince: .zero) == .fine)
        let second = vigil.look(at: patience * 2, waiting: 1, onlineSince: .zero)
        #expect(second == .stuck(isNews: false))
        vigil.noteMotion(at: patience * 2)
        let third = vigil.look(at: patience * 3, waiting: 1, onlineSince: .zero)
        #expect(third == .stuck(isNews: true))
    }

    @Test func `nothing waiting and nobody there are reasons to stand still`() {
        var vigil = Vigil(at: .zero)
        #expect(vigil.look(at: .seconds(9_000), waiting: 0, onlineSince: .zero) == .fine)
        #expect(vigil.look(at: .seconds(18_000), waiting: 1, onlineSince: nil) == .fine)
        let since = Duration.seconds(20_000)
        let soon = since + Vigil.patience - .seconds(1)
        #expect(vigil.look(at: soon, waiting: 1, onlineSince: since) == .fine)
        let late = since + Vigil.patience
        #expect(vigil.look(at: late, waiting: 1, onlineSince: since) == .stuck(isNews: true))
    }
}
