import Testing

@testable import Vault

struct BeliefTests {
    private let noon = Moment(ticks: 17_000_000_000_000_000)

    /// The number of an account in which something was written at noon.
    private static let latest: Int64 = 1_700_000_000_000

    private func footing(
        _ ciphers: [String: Moment?],
        accountRevision: Int64? = Self.latest + 5,
        doubt: SyncDoubt? = nil
    ) -> SyncFooting {
        SyncFooting(
            userID: "me",
            ciphers: ciphers,
            accountRevision: accountRevision,
            doubt: doubt
        )
    }

    private func picture(
        _ ciphers: [String: Moment?]?,
        of user: String? = "me",
        accountRevision: Int64? = Self.latest + 6
    ) -> SyncPicture {
        SyncPicture(
            profileID: user,
            ciphers: ciphers,
            accountRevision: accountRevision
        )
    }

    private func vault(_ count: Int, at moment: Moment? = nil) -> [String: Moment?] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("c\($0)", moment ?? noon) })
    }

    private func look(_ picture: SyncPicture, _ footing: SyncFooting, later: Int64 = 0) -> Belief {
        Belief(in: picture, on: footing, at: noon.advanced(bySeconds: later))
    }

    @Test func `a whole answer for the right account is believed`() {
        #expect(look(picture(vault(20)), footing(vault(20))) == .believed)
        #expect(look(picture(vault(1)), footing([:])) == .believed)
        #expect(look(picture([:]), footing([:])) == .believed, "An empty vault stays empty.")
    }

    @Test func `I13 who shows what was deleted from here is at an earlier point in time`() {
        let here = SyncFooting(
            userID: "me",
            ciphers: vault(3),
            deleted: ["c3"],
            accountRevision: Self.latest + 5
        )
        #expect(look(picture(vault(3)), here) == .believed)
        guard case .doubted(let doubt) = look(picture(vault(4)), here) else {
            Issue.record("It was believed.")
            return
        }
        #expect(doubt.kind == .regression)
    }

    @Test func `T-46 what is no sync of this account replaces nothing`() {
        let here = footing(vault(3))
        #expect(look(picture(vault(3), of: "you"), here) == .refused(.wrongAccount))
        #expect(look(picture(vault(3), of: nil), here) == .refused(.wrongAccount))
        #expect(look(picture(nil), here) == .refused(.noCiphers))
    }

    @Test func `T-46 an empty list does not replace a vault until it is said twice`() throws {
        let empty = picture([:])
        guard case .doubted(let few) = look(empty, footing(vault(3))),
            case .doubted(let doubt) = look(empty, footing(vault(10)))
        else {
            Issue.record("An empty answer was not doubted.")
            return
        }
        #expect(few.kind == .shrink && doubt.kind == .shrink)
        #expect(look(empty, footing(vault(3), doubt: few)) == .confirmed(.shrink))
        let again = footing(vault(10), doubt: doubt)
        #expect(look(empty, again, later: 59) == .doubted(doubt), "Too soon to be another answer.")
        #expect(look(empty, again, later: 60) == .confirmed(.shrink))
    }

    @Test func `another picture begins the doubt anew`() {
        let here = footing(vault(20))
        guard case .doubted(let doubt) = look(picture(vault(1)), here) else {
            Issue.record("Nineteen of twenty went without a doubt.")
            return
        }
        let later = footing(vault(20), doubt: doubt)
        guard case .doubted(let other) = look(picture(vault(2)), later, later: 600) else {
            Issue.record("Another picture confirmed the first.")
            return
        }
        #expect(other.since == noon.advanced(bySeconds: 600))
        let moved = picture(vault(1), accountRevision: Self.latest + 7)
        #expect(look(moved, later, later: 600) != .confirmed(.shrink), "The account has moved.")
        #expect(look(picture(vault(20)), later, later: 600) == .believed, "All is there again.")
    }

    @Test func `P8 nine tenths of ten or more are not given up at once`() {
        func isDoubted(_ before: Int, _ now: Int) -> Bool {
            look(picture(vault(now)), footing(vault(before))) != .believed
        }
        #expect(isDoubted(10, 1))
        #expect(!isDoubted(10, 2))
        #expect(isDoubted(100, 10))
        #expect(!isDoubted(100, 11))
        #expect(!isDoubted(9, 1), "A small vault may shrink, but not to nothing.")
        #expect(isDoubted(1, 0))
    }

    @Test func `all replaced by others is a shrink too`() {
        let others = Dictionary(uniqueKeysWithValues: (0..<20).map { ("d\($0)", noon as Moment?) })
        guard case .doubted(let doubt) = look(picture(others), footing(vault(20))) else {
            Issue.record("Twenty strangers were believed.")
            return
        }
        #expect(doubt.kind == .shrink)
    }

    @Test func `I13 what is gone although it is younger than the account is a regression`() {
        let here = footing(
            vault(3).merging(vault(4, at: noon.advanced(bySeconds: 2))) { old, _ in old }
        )
        guard case .doubted(let doubt) = look(picture(vault(3)), here) else {
            Issue.record("It was believed.")
            return
        }
        #expect(doubt.kind == .regression)
        let deleted = picture(vault(3), accountRevision: Self.latest + 2_000)
        #expect(look(deleted, here) == .believed, "Whoever deleted it has moved the account on.")
    }

    @Test(arguments: [8_751_234, 12_000_000, 16_000_000])
    func `F27 an account whose number was kept as a whole second has seen what came within it`(
        _ ticks: Int64
    ) {
        let made = Moment(ticks: noon.ticks + ticks)
        let here = footing(vault(3).merging(["c3": made]) { $1 }, accountRevision: Self.latest)
        let gone = picture(vault(3), accountRevision: Self.latest + 1_000)
        #expect(look(gone, here) == .believed)
    }

    @Test func `the number of an account may be any`() {
        for number in [Int64.min, -62_135_596_800_000, .max] {
            _ = look(picture(vault(3), accountRevision: number), footing(vault(4)))
        }
    }

    @Test func `N3 who writes after upstream went back hides nothing of what it has forgotten`() {
        let made = noon.advanced(bySeconds: 1)
        let whole = vault(3).merging(["c3": made]) { old, _ in old }
        let here = Self.latest + 1_000
        guard
            case .doubted(let doubt) = look(
                picture(vault(3), accountRevision: Self.latest),
                footing(whole, accountRevision: here)
            )
        else {
            Issue.record("It was believed.")
            return
        }
        let written = vault(3).merging(["c0": noon.advanced(bySeconds: 50)]) { $1 }
        let moved = picture(written, accountRevision: Self.latest + 50_000)
        let doubtful = footing(whole, accountRevision: here, doubt: doubt)
        guard case .doubted(let later) = look(moved, doubtful, later: 50) else {
            Issue.record("It was believed once somebody had written.")
            return
        }
        #expect(later.kind == .regression && later.missing == ["c3"])
        let again = footing(whole, accountRevision: here, doubt: later)
        #expect(look(moved, again, later: 111) == .confirmed(.regression))
        // Nobody who has not seen it go back can tell that from a deletion.
        #expect(look(moved, footing(whole, accountRevision: here), later: 50) == .believed)
        // What is there after all was never forgotten.
        let back = written.merging(["c3": made]) { old, _ in old }
        let mended = picture(back, accountRevision: Self.latest + 50_000)
        #expect(look(mended, doubtful, later: 50) == .believed)
    }

    @Test func `I13 an account revision that goes back is a regression`() {
        let back = picture(vault(3), accountRevision: Self.latest + 4)
        guard case .doubted(let doubt) = look(back, footing(vault(3))) else {
            Issue.record("A revision that went back was believed.")
            return
        }
        #expect(doubt.kind == .regression)
        let again = footing(vault(3), doubt: doubt)
        #expect(look(back, again, later: 90) == .confirmed(.regression))
        let unknown = picture(vault(3), accountRevision: nil)
        #expect(look(unknown, footing(vault(3))) == .believed)
    }

    @Test func `P17 nothing at all of an earlier time is a regression, not a shrink`() {
        let back = picture(vault(0), accountRevision: Self.latest + 4)
        guard case .doubted(let doubt) = look(back, footing(vault(1))) else {
            Issue.record("An empty vault was believed.")
            return
        }
        #expect(doubt.kind == .regression)
    }

    @Test func `P7, F27 an item older than it was is a regression, what a store has lost is not`() {
        func moved(_ ticks: Int64, from seen: Int64 = 8_751_234) -> Belief {
            let known = vault(3, at: Moment(ticks: noon.ticks + seen))
            var now = known
            now["c1"] = Moment(ticks: noon.ticks + seen + ticks)
            return look(picture(now, accountRevision: nil), footing(known))
        }
        #expect(moved(-4 * Moment.ticksPerMillisecond) == .believed)
        #expect(moved(-4 * Moment.ticksPerMillisecond - 1) != .believed)
        #expect(moved(-8_751_234) == .believed)
        #expect(moved(-8_751_234 - Moment.ticksPerSecond) != .believed)
        #expect(moved(-Moment.ticksPerSecond, from: 0) != .believed)
        #expect(moved(Moment.ticksPerSecond) == .believed)
        var unstamped = vault(3)
        unstamped["c1"] = .some(nil)
        #expect(look(picture(unstamped), footing(vault(3))) == .believed)
    }

    /// Somebody edits all the time, at a server whose clock was set back.
    @Test func `P7 an upstream that goes on from an earlier time is believed in the end`() throws {
        func picture(_ step: Int) -> SyncPicture {
            var ciphers = vault(3)
            ciphers["c1"] = Moment(ticks: noon.ticks - 3_600 * Moment.ticksPerSecond)
            ciphers["new"] = Moment(ticks: noon.ticks + Int64(step))
            return self.picture(ciphers, accountRevision: Self.latest + 6 + Int64(step))
        }
        guard case .doubted(var doubt) = look(picture(0), footing(vault(3))) else {
            Issue.record("It was believed.")
            return
        }
        for step in 1..<15 {
            let belief = look(
                picture(step),
                footing(vault(3), doubt: doubt),
                later: Int64(step * 20)
            )
            guard case .doubted(let next) = belief else {
                Issue.record("\(step): \(belief)")
                return
            }
            #expect(next.since == doubt.since)
            doubt = next
        }
        let last = look(picture(15), footing(vault(3), doubt: doubt), later: 300)
        #expect(last == .confirmed(.regression))
        let back = look(picture(0), footing(vault(3), doubt: doubt), later: 300)
        #expect(back != .confirmed(.regression), "It has gone back once more.")
    }

    /// Somebody has replaced the vault, and goes on filling it.
    @Test func `P8 that nearly all is gone is believed in the end, whoever goes on writing`() {
        func picture(_ step: Int, accountRevision: Int64) -> SyncPicture {
            var ciphers = vault(1)
            ciphers["new"] = Moment(ticks: noon.ticks + Int64(step))
            return self.picture(ciphers, accountRevision: accountRevision)
        }
        let (before, number) = (Self.latest + 6, Self.latest + 7)
        let first = picture(0, accountRevision: before)
        guard case .doubted(let doubt) = look(first, footing(vault(20))) else {
            Issue.record("It was believed.")
            return
        }
        let moved = picture(1, accountRevision: number)
        guard
            case .doubted(let next) = look(moved, footing(vault(20), doubt: doubt), later: 299)
        else {
            Issue.record("It was believed too soon.")
            return
        }
        #expect(next.kind == .shrink && next.since == doubt.since)
        let here = footing(vault(20), doubt: next)
        let last = picture(2, accountRevision: number + 1)
        #expect(look(last, here, later: 300) == .confirmed(.shrink))
        // Whoever had written would have moved the number on.
        for number in [number, before] {
            let other = picture(2, accountRevision: number)
            #expect(look(other, here, later: 300) != .confirmed(.shrink))
        }
    }

    @Test func `a clock that was set back confirms nothing`() {
        let empty = picture([:])
        guard case .doubted(let doubt) = look(empty, footing(vault(3))) else {
            Issue.record("It is something else.")
            return
        }
        let again = footing(vault(3), doubt: doubt)
        #expect(look(empty, again, later: -3_600) != .confirmed(.shrink))
    }

    @Test func `P7 one cipher asked for alone tells an old answer from an upstream that went back`()
        throws
    {
        let here = SyncFooting(
            userID: "me",
            ciphers: vault(3),
            deleted: ["a0"],
            accountRevision: nil
        )
        func witness(_ ciphers: [String: Moment?]) -> SyncWitness? {
            SyncWitness.those(against: picture(ciphers), on: here).first { _ in true }
        }
        let before = noon.advanced(bySeconds: -1)
        let later = noon.advanced(bySeconds: 1)
        #expect(witness(vault(4, at: later)) == nil, "Nothing that is known is gainsaid.")
        let older = vault(3).merging(["c1": before]) { $1 }
        for (ciphers, isListed) in [(vault(1), false), (older, true)] {
            let witness = try #require(witness(ciphers))
            #expect(witness.cipherID == "c1")
            #expect(witness.word(showing: noon) == .disproves)
            #expect(witness.word(showing: later) == .disproves)
            #expect(witness.word(showing: before) == .bearsOut)
            #expect(witness.word(showing: nil) == (isListed ? .meansNothing : .bearsOut))
        }
        let risen = try #require(witness(vault(3).merging(["a0": noon]) { $1 }))
        #expect(risen.cipherID == "a0")
        #expect(risen.word(showing: nil) == .disproves)
        #expect(risen.word(showing: noon) == .bearsOut)
    }
}
