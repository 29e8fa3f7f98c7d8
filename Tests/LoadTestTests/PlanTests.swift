@testable import LoadTest
import Testing

struct PlanTests {
    private func plan(_ change: (inout LoadProfile) -> Void = { _ in }) -> Plan {
        var profile = LoadProfile()
        change(&profile)
        return Plan(profile)
    }

    private func edits(_ plan: Plan, _ user: Int, round: Int = 0) -> UserPlan {
        plan.user(user, round: round, base: plan.furniture(of: user))
    }

    @Test func `the same seed plans the same, and every user and round something else`() {
        #expect(edits(plan(), 3) == edits(plan(), 3))
        #expect(edits(plan(), 3).edits != edits(plan(), 4).edits)
        #expect(edits(plan(), 3).edits != edits(plan(), 3, round: 1).edits)
        #expect(edits(plan(), 3).edits != edits(plan { $0.seed = 2 }, 3).edits)
    }

    @Test(arguments: 0..<40)
    func `every edit is of something that is there`(_ user: Int) {
        let plan = edits(plan { $0.edits = 120 }, user)
        #expect(plan.edits.count == 120)
        var there = Set(plan.base.indices)
        var made = plan.base.count
        for edit in plan.edits {
            switch edit {
            case .create(let thing, _):
                #expect(thing == made)
                made += 1
                there.insert(thing)
            case .update(let thing, _): #expect(there.contains(thing))
            case .trash(let thing), .delete(let thing): #expect(there.remove(thing) != nil)
            }
        }
    }

    @Test func `no two writings of all users have the same mark`() {
        let plan = plan { $0.conflicts = 0.5 }
        let marks = (0..<50).flatMap { user in
            let own = edits(plan, user)
            return own.base.map(\.notes) + own.edits.compactMap(\.content?.notes)
                + own.foreign.map(\.content.notes)
        }
        #expect(Set(marks).count == marks.count)
    }

    @Test func `the other device edits that share of the edited items, and no others`() {
        for share in [0, 0.1, 0.5, 1] {
            let plan = plan { $0.conflicts = share }
            var (touched, foreign) = (0, 0)
            for user in 0..<200 {
                let own = edits(plan, user)
                let things = Set(own.edits.map(\.thing)).intersection(own.base.indices)
                #expect(things.isSuperset(of: own.foreign.map(\.thing)))
                (touched, foreign) = (touched + things.count, foreign + own.foreign.count)
            }
            let found = Double(foreign) / Double(touched)
            #expect(abs(found - share) < 0.05, "\(found) of \(share)")
        }
    }

    @Test func `without repetition every edit goes to another item as long as there are any`() {
        let plan = plan { profile in
            (profile.repeats, profile.items, profile.edits) = (0, 60, 50)
        }
        let own = edits(plan, 1)
        let changed = own.edits.filter { $0.operation != .create }.map(\.thing)
        #expect(Set(changed).count == changed.count)
    }

    @Test(arguments: LoadProfile.Name.allCases)
    func `the profiles that come with the program make sense`(_ name: LoadProfile.Name) {
        #expect(LoadProfile(name).flaw == nil)
    }

    @Test func `less than a millisecond is not as fast as can be`() {
        var profile = LoadProfile()
        profile.offlineSeconds = 0.0009
        #expect(profile.offline > .zero)
    }

    @Test func `a profile that makes no sense says so`() {
        var profile = LoadProfile()
        profile.users = 0
        #expect(profile.flaw?.contains("--users") == true)
        profile = LoadProfile()
        profile.conflicts = 1.5
        #expect(profile.flaw?.contains("--conflicts") == true)
    }
}
