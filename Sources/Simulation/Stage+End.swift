import Host
import Machine
import Messaging
import Metrics
import Sync
import System
import Vault

/// The end of a run: nothing goes wrong any more, and then everything has to come right.
extension Stage {
    func settle() async {
        history.note("from now on nothing goes wrong")
        await calm()
        // One item that upstream refuses for ever is in nobody's way.
        guard await becomesQuiet("I11") else { return }
        if state.withLock(\.poisoned) != nil {
            guard await staysLive() else { return }
            state.withLock { $0.poisoned = nil }
            guard await becomesQuiet("I3") else { return }
        }
        guard await retryEverything() else { return }
        // One sync, and a second look at what was hard to believe.
        await pass(max(quietUntil - time.elapsed, .zero))
        await pass(.seconds(script.interval * 11 / 10 + 400))
        if state.withLock(\.isSignedOut) {
            // Only now has anybody heard that the session is over.
            await signInAgain()
            await pass(.seconds(400))
        }
        if oracle.with(\.hasLied) { await askAgain() }
        // What upstream has forgotten is offered to it again, maybe under a key from before.
        guard await becomesQuiet("I3"), await retryEverything(), oracle.breach == nil else {
            return
        }
        await judge()
    }

    /// What others do elsewhere arrives, whatever upstream makes of one item.
    private func staysLive() async -> Bool {
        do {
            try await addElsewhere()
        } catch {
            oracle.say("simulator", "another device could not: \(error)")
        }
        await pass(max(quietUntil - time.elapsed, .zero))
        await pass(.seconds(script.interval * 11 / 10 + 400))
        guard oracle.breach == nil, let house, !state.withLock(\.isSignedOut) else {
            return oracle.breach == nil
        }
        if let known = await shown(house) { oracle.lookForNews(known) }
        return oracle.breach == nil
    }

    private func calm() async {
        await reviveIfDown()
        disk.heal()
        clock.setRight()
        if cloud.secondsAhead != 0 { await cloud.setClock(seconds: 0) }
        state.withLock { state in
            state.isCalm = true
            state.isDrill = false
        }
        setCut(false)
        house?.line.calm()
        if let house { await drill(false, house) }
        await signInAgain()
        await unlock()
        oracle.with { $0.mayRegress = true }
    }

    /// A person who cannot read the vault any more signs in, too.
    private func isToSignIn(_ latest: Int) -> Bool {
        state.withLock { $0.isSignedOut || $0.keysKnown < latest }
    }

    /// As the host takes up an account that it knows: keys of yesterday go, the session comes back, and
    /// then the new keys.
    func signInAgain() async {
        let latest = cloud.rings.count - 1
        guard let house, !house.line.isCut, house.session.isSignedOut || isToSignIn(latest) else {
            return
        }
        do {
            let upstream = try Cloud.upstream(cloud.directLine, time, executor.chance, device: 2)
            let tokens = try await Cloud.signIn(upstream)
            let hasOldKeys = state.withLock { state in
                state.tokens = tokens
                state.isSignedOut = false
                defer { state.keysKnown = latest }
                return state.keysKnown < latest
            }
            house.line.sessionEnded = nil
            if hasOldKeys { house.lock() }
            house.session.signIn(tokens)
            if hasOldKeys {
                try? await time.sleep(for: .milliseconds(5))
                state.withLock { $0.isLocked = false }
                house.unlock(cloud.rings[latest])
                await reseal(house)
            }
            try await house.scheduler.address.tell(.trigger(.signedIn))
        } catch {
            oracle.say("simulator", "nobody can sign in: \(error)")
        }
    }

    /// An upstream that has left something out of its list, and whose word for it is that nothing has
    /// changed since, is believed for a day, unless a person insists.
    private func askAgain() async {
        for _ in 0..<3 {
            guard oracle.breach == nil else { return }
            await takeOwn(Step(number: -1, deed: .sync, isAside: false, turns: 0))
            await pass(.seconds(400))
        }
    }

    /// Until when upstream itself has asked to be left alone. A host that is started with a wrong clock
    /// reads that wrongly from what it kept, and waits for an hour at most.
    private var quietUntil: Duration {
        let ban = oracle.with { $0.lastBan.map { $0 + .seconds(1_900) } ?? .zero }
        let hold = oracle.with(\.latestHold)
        let mayMisread = state.withLock { $0.hadWrongClock && max(hold, ban) > .zero }
        return max(hold, ban, mayMisread ? state.withLock(\.upSince) + .seconds(3_600) : .zero)
    }

    /// Waits until nothing is pending but what upstream refuses: for twice the longest backoff.
    private func becomesQuiet(_ invariant: String) async -> Bool {
        let start = time.elapsed
        while time.elapsed < max(start, quietUntil) + .seconds(2 * 900 + 150) {
            await pass(.seconds(30))
            guard oracle.breach == nil, house != nil else { return false }
            if state.withLock(\.isSignedOut) { await signInAgain() }
            if waiting.isEmpty, state.withLock(\.underWay) == 0 { return true }
        }
        guard state.withLock(\.underWay) == 0 else {
            oracle.say("I3", "somebody still waits for an answer")
            return false
        }
        let words = waiting.map { change in
            "\(change.summary.typeText) \(change.summary.state) "
                + (change.change?.lastFailure.map { "\($0.kind): \($0.message)" } ?? "")
        }
        let isPoisoned = state.withLock(\.poisoned) != nil
        oracle.say(isPoisoned ? invariant : "I3", "still pending: \(words.joined(separator: "; "))")
        return false
    }

    /// What is to be brought upstream, and can be.
    private var waiting: [StoredChange] {
        let poisoned = state.withLock(\.poisoned)
        let changes = (try? house?.store.reader.changes(of: cloud.userID)) ?? []
        return changes.filter {
            $0.summary.state != .quarantined && $0.summary.lane.cipherID != poisoned
        }
    }

    /// A person has what was set aside tried once more.
    private func retryEverything() async -> Bool {
        for _ in 0..<4 {
            guard let house else { return false }
            let changes = (try? house.store.reader.changes(of: cloud.userID)) ?? []
            if changes.isEmpty { return true }
            // Whoever unlocks once more has everything brought under the present key that is not yet.
            await reseal(house)
            await takeOwn(Step(number: -1, deed: .retry, isAside: false, turns: 0))
            guard await becomesQuiet("I3") else { return false }
        }
        let changes = (try? house?.store.reader.changes(of: cloud.userID)) ?? []
        let words = changes.map {
            "\($0.summary.typeText) \($0.change?.lastFailure?.message ?? "")"
        }
        oracle.say("I3", "set aside for good: \(words.joined(separator: "; "))")
        return false
    }

    private func judge() async {
        guard let house else { return }
        guard let shown = await shown(house), let items = try? await cloud.look() else {
            oracle.say("I3", "the vault cannot be listed")
            return
        }
        oracle.observe(items, by: .other)
        oracle.judge(shown: shown)
        await judgeFigures(house)
        judgeSecrets(house)
    }

    // MARK: Figures and secrets

    /// What was counted is what people were told, as long as this process has been up.
    private func judgeFigures(_ house: House) async {
        guard !oracle.with(\.hasCopies) else { return }
        let page = String(decoding: await house.registry.page(.prometheus), as: UTF8.self)
        let counts = state.withLock(\.counts)
        for disposition in [SyncMetrics.Disposition.saved, .queued, .rejected] {
            let told = page.split(separator: "\n").filter {
                $0.hasPrefix("holdfast_edits_total{")
                    && $0.contains("\"\(disposition.rawValue)\"")
            }
            .compactMap { line in line.split(separator: " ").last.flatMap { Double($0) } }
            .reduce(0, +)
            let known = counts[disposition] ?? 0
            if Int(told) != known {
                oracle.say(
                    "I19",
                    "\(known) edits were \(disposition), and the figure says \(told)"
                )
            }
        }
    }

    private func judgeSecrets(_ house: House) {
        let words = oracle.with { Array($0.words.keys) }
        let beginnings = ["h~", "o~"].map { Array($0.utf8) }
        for file in [House.file, House.file + "-wal"] {
            // To look for one after the other takes longer than all that went before.
            guard beginnings.contains(where: { disk.contains($0, in: file) }) else { continue }
            for word in words.sorted() where disk.contains(Array(word.utf8), in: file) {
                oracle.say("I16", "\(word) lies on the disk as it was written")
                return
            }
        }
        for line in house.log.breaches {
            oracle.say("I16", "a log line says what it must not: \(line)")
        }
    }
}
