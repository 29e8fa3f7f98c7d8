import Machine
import Sync
import System
import Vault

/// The end of a run: nothing goes wrong any more, and then everything has to come right.
extension Stage {
    func settle() async {
        history.note("from now on nothing goes wrong")
        await calm()
        // One item that is refused for ever, or never gets there, is in nobody's way.
        guard await becomesQuiet(.poisonContained) else { return }
        if let poison = world.poison {
            // What is not refused is not set aside either, and the policy of the whole waits for it.
            if poison.isRefusal || !script.isWhole { guard await staysLive() else { return } }
            world.poison = nil
            guard await becomesQuiet(.settlesDown) else { return }
        }
        guard await retryEverything() else { return }
        // One sync, and a second look at what was hard to believe.
        await hearOfEverything()
        if oracle.with({ $0.hasLied || $0.hasOddStamps }) { await askAgain() }
        // What upstream has forgotten is offered to it again, maybe under a key from before.
        guard await becomesQuiet(.settlesDown), await retryEverything(), oracle.breach == nil else {
            return
        }
        if sites.count > 1 { await hearOfEachOther() }
        await judge()
    }

    /// What one host has brought up last, the other hears of at its next sync. Of an upstream that seems to have gone
    /// back it may then offer again what that has undone, of which the first is still to hear.
    private func hearOfEachOther() async {
        await hearOfEverything()
        if oracle.with({ $0.hasLied || $0.hasOddStamps }) { await hearOfEverything() }
    }

    /// One sync. Whoever hears only then that the session is over signs in again.
    private func hearOfEverything() async {
        await passOneSync()
        guard sites.contains(where: \.isSignedOut) else { return }
        for site in sites where site.isSignedOut { await site.signInAgain() }
        await pass(.seconds(400))
    }

    private func calm() async {
        for site in sites { await site.calmMachine() }
        if cloud.secondsAhead != 0 { await cloud.setClock(seconds: 0) }
        world.isCalm = true
        for site in sites { await site.calmWay() }
        oracle.with { $0.mayRegress = true }
    }

    private var quietUntil: Duration { sites.map(\.quietUntil).max() ?? .zero }

    private func passOneSync() async {
        await pass(max(quietUntil - time.elapsed, .zero))
        await pass(.seconds(script.interval * 11 / 10 + 400))
    }

    /// What others do elsewhere arrives, whatever upstream makes of one item.
    private func staysLive() async -> Bool {
        do {
            try await world.addElsewhere()
        } catch {
            oracle.say(.playable, "another device could not: \(error)")
        }
        await passOneSync()
        for site in sites where !site.isSignedOut {
            guard oracle.breach == nil, let house = site.house else { break }
            if let known = await site.shown(house) { oracle.lookForNews(known) }
        }
        return oracle.breach == nil
    }

    /// An upstream that has left something out of its list, or has stamped two changes alike, and whose
    /// word is that nothing has changed since, is believed for a day, unless a person insists.
    private func askAgain() async {
        for _ in 0..<3 {
            for site in sites where oracle.breach == nil {
                await site.takeOwn(.unscripted(.sync, isAside: false))
            }
            guard oracle.breach == nil else { return }
            // Whoever asks may be the first to hear that the session is over, and has asked for nothing then.
            for site in sites where site.isSignedOut { await site.signInAgain() }
            await pass(.seconds(400))
        }
    }

    /// Waits until nothing is pending but what upstream refuses: for twice the longest backoff, and as long
    /// again where a host's clock was set, because that may make of each wait two.
    private func becomesQuiet(_ invariant: Invariant) async -> Bool {
        let start = time.elapsed
        let waits = oracle.with(\.hasRightClocks) ? 2 : 4
        while time.elapsed < max(start, quietUntil) + .seconds(waits * 900 + 150) {
            await pass(.seconds(30))
            for site in sites { site.lookForProgress() }
            guard oracle.breach == nil, sites.allSatisfy({ $0.house != nil }) else { return false }
            for site in sites where site.isSignedOut { await site.signInAgain() }
            for site in sites { await site.signLodgerInAgain() }
            if sites.allSatisfy(\.isQuiet) { return true }
        }
        guard sites.allSatisfy({ $0.state.withLock(\.underWay) == 0 }) else {
            oracle.say(.settlesDown, "somebody still waits for an answer")
            return false
        }
        let isLodgers = sites.allSatisfy(\.waiting.isEmpty)
        let words = sites.flatMap { $0.waiting + $0.lodgerWaiting }.map { change in
            "\(change.summary.typeText) \(change.summary.state) "
                + (change.change?.lastFailure.map { "\($0.kind.rawValue): \($0.message)" } ?? "")
        }
        let isPoisoned = world.poison != nil
        let poisoned: Invariant = isLodgers ? .accountsApart : invariant
        oracle.say(
            isPoisoned ? poisoned : .settlesDown,
            "still pending: \(words.joined(separator: "; "))"
        )
        return false
    }

    /// A person has what was set aside tried once more.
    private func retryEverything() async -> Bool {
        for _ in 0..<4 {
            guard sites.allSatisfy({ $0.house != nil }) else { return false }
            if sites.allSatisfy(\.isClear) { return true }
            for site in sites { await site.retryEverything() }
            guard await becomesQuiet(.settlesDown) else { return false }
        }
        let words = sites.flatMap { $0.changes + $0.lodgerChanges }.map {
            "\($0.summary.typeText) \($0.change?.lastFailure?.message ?? "")"
        }
        oracle.say(.settlesDown, "set aside for good: \(words.joined(separator: "; "))")
        return false
    }

    private func judge() async {
        var shown: [[PlainItem]] = []
        for site in sites {
            guard let house = site.house else { return }
            guard let items = await site.shown(house) else {
                return oracle.say(.settlesDown, "the vault cannot be listed")
            }
            shown.append(items)
        }
        guard let items = try? await cloud.look() else {
            return oracle.say(.playable, "the server cannot be looked at")
        }
        oracle.observe(items, by: .other)
        oracle.judge(shown: shown)
        for site in sites { await site.judge() }
    }
}
