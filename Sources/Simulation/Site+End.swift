import Host
import Machine
import Messaging
import Metrics
import Sync
import System
import Vault

/// The end of a run, as one host comes to it.
extension Site {
    var isSignedOut: Bool { state.withLock(\.isSignedOut) }

    func calmMachine() async {
        await reviveIfDown()
        disk.heal()
        clock.setRight()
        state.withLock { $0.clockSet = time.elapsed }
    }

    func calmWay() async {
        expectProgress()
        state.withLock { $0.isDrill = false }
        setCut(false)
        house?.line.calm()
        if let house { await drill(false, house) }
        await signInAgain()
        await signLodgerInAgain()
        await unlock()
    }

    /// A person who cannot read the vault any more signs in, too.
    private func isToSignIn(_ latest: Int) -> Bool {
        state.withLock { $0.isSignedOut || $0.keysKnown < latest }
    }

    /// As the host takes up an account that it knows: keys of yesterday go, the session comes back, and
    /// then the new keys.
    func signInAgain() async {
        let latest = cloud.rings.count - 1
        guard let house, !house.line.isCut, house.owner.session.isSignedOut || isToSignIn(latest)
        else {
            return
        }
        do {
            let upstream = try world.directUpstream(of: number)
            let tokens = try await Cloud.signIn(upstream)
            let hasOldKeys = state.withLock { state in
                state.tokens = tokens
                state.isSignedOut = false
                defer { state.keysKnown = latest }
                return state.keysKnown < latest
            }
            house.line.beginSession()
            if hasOldKeys { house.owner.lock() }
            house.owner.session.signIn(tokens)
            if hasOldKeys {
                try? await time.sleep(for: .milliseconds(5))
                state.withLock { $0.isLocked = false }
                house.owner.unlock(cloud.rings[latest])
                await reseal(house)
            }
            try await house.owner.scheduler.address.tell(.trigger(.signedIn))
        } catch {
            oracle.say(.playable, "nobody can sign in: \(error)")
        }
    }

    /// Until when upstream itself has asked to be left alone. A host whose clock is set meanwhile, or that
    /// is started with a wrong one, reads that wrongly, and waits for an hour at most.
    var quietUntil: Duration {
        let ban = oracle.with { $0.lastBan.map { $0 + .seconds(1_900) } ?? .zero }
        let hold = oracle.with(\.latestHold)
        let mayMisread = state.withLock { $0.hadWrongClock && max(hold, ban) > .zero }
        let misreading = state.withLock { max($0.upSince, $0.clockSet) + .seconds(3_600) }
        return max(hold, ban, mayMisread ? misreading : .zero)
    }

    var changes: [StoredChange] { (try? house?.store.reader.changes(of: cloud.userID)) ?? [] }

    /// What is to be brought upstream, and can be.
    var waiting: [StoredChange] {
        let (changes, poisoned) = (changes, world.poison?.id)
        let setAside = changes.filter { $0.summary.state == .quarantined }.map(
            \.summary.lane.cipherID
        )
        let blocked = oracle.with { knowledge in
            // An item may be known here by two ids; what is wrong with one of them stops both.
            let items =
                (setAside.map { knowledge.shown[$0] }
                + [poisoned.flatMap { knowledge.upstream[$0]?.origin }]).compactMap(\.self)
            return Set(knowledge.shown.filter { items.contains($0.value) }.keys)
        }
        return changes.filter {
            let id = $0.summary.lane.cipherID
            return $0.summary.state != .quarantined && id != poisoned && !blocked.contains(id)
        }
    }

    /// Nothing waits, and nobody.
    var isQuiet: Bool { waiting.isEmpty && state.withLock(\.underWay) == 0 && isLodgerQuiet }

    /// What has waited for nothing but the network is on its way soon after that has come back. After an
    /// outage that was long enough nothing that happened before it keeps it.
    private func expectProgress() {
        let now = time.elapsed
        guard let house, house.monitor.standing.state == .offline, quietUntil < now,
            !house.owner.keys.isLocked, !house.owner.session.isSignedOut,
            waiting.contains(where: { isOnlyLate($0) })
        else { return }
        state.withLock { state in
            guard let cutSince = state.cutSince, now - cutSince > Self.longOutage, !state.isDrill,
                !state.hadWrongClock, now - state.upSince > Self.longOutage
            else { return }
            state.dueBy = now + Self.reaction
        }
    }

    /// Whether only the network keeps it, as far as anybody knows.
    private func isOnlyLate(_ change: StoredChange) -> Bool {
        guard let change = change.change, let failure = change.lastFailure else { return true }
        return change.isBlameless || failure.kind == .transport
    }

    private static let longOutage = Duration.seconds(1_000)
    /// Until the next probe, its answer, and what is asked then.
    private static let reaction = Duration.seconds(75)

    func lookForProgress() {
        guard let dueBy = state.withLock(\.dueBy), time.elapsed > dueBy else { return }
        state.withLock { $0.dueBy = nil }
        guard let house else { return }
        if let began = house.line.lastBegan, began > dueBy - Self.reaction { return }
        oracle.say(.settlesDown, "the network came back, and nothing of what waits is on its way")
    }

    /// Nothing is left here that was to be brought upstream.
    var isClear: Bool { changes.isEmpty && lodgerChanges.isEmpty }

    func retryEverything() async {
        await retryLodger()
        guard let house, !changes.isEmpty else { return }
        // Whoever unlocks once more has everything brought under the present key that is not yet.
        await reseal(house)
        await takeOwn(.unscripted(.retry, isAside: false))
    }

    func judge() async {
        guard let house else { return }
        await judgeLodger()
        await judgeFigures(house)
        judgeSecrets()
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
                    .toldTruly,
                    "\(known) edits were \(disposition), and the figure says \(told)"
                )
            }
        }
    }

    private func judgeSecrets() {
        let words = oracle.with { Array($0.words.keys) } + (lodger?.words ?? [])
        let beginnings = ["h~", "o~", "r~"].map { Array($0.utf8) }
        for file in [House.file, House.file + "-wal"] {
            // To look for one after the other takes longer than all that went before.
            guard beginnings.contains(where: { disk.contains($0, in: file) }) else { continue }
            for word in words.sorted() where disk.contains(Array(word.utf8), in: file) {
                oracle.say(.nothingOpen, "\(word) lies on the disk as it was written")
                return
            }
        }
        for line in log.breaches {
            oracle.say(.nothingOpen, "a log line says what it must not: \(line)")
        }
    }
}
