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
        guard await becomesQuiet(within: Self.patience) else { return }
        await askEverything()
        guard oracle.breach == nil, await becomesQuiet(within: Self.patience) else { return }
        await judge()
    }

    /// Twice the longest backoff, a second look, and one sync.
    private static let patience = Duration.seconds(2 * 900 + 3_600 + 2_000)

    private func calm() async {
        await reviveIfDown()
        disk.heal()
        clock.setRight()
        let wasAhead = cloud.secondsAhead
        if wasAhead != 0 { await cloud.setClock(seconds: 0) }
        state.withLock { state in
            state.isCalm = true
            state.isDrill = false
        }
        setCut(false)
        house?.line.calm()
        try? await house?.monitor.address.tell(.drill(false))
        await signInAgain()
        unlock()
        oracle.with { $0.mayRegress = true }
    }

    private func signInAgain() async {
        guard let house, state.withLock(\.isSignedOut) || house.session.isSignedOut else { return }
        do {
            let upstream = try Cloud.upstream(cloud.directLine, time, executor.chance, device: 2)
            let tokens = try await Cloud.signIn(upstream)
            state.withLock { state in
                state.tokens = tokens
                state.isSignedOut = false
            }
            house.session.signIn(tokens)
            try await house.scheduler.address.tell(.trigger(.signedIn))
        } catch {
            oracle.say("simulator", "nobody can sign in: \(error)")
        }
    }

    /// Waits until nothing is pending, and the next sync after that.
    private func becomesQuiet(within patience: Duration) async -> Bool {
        let end = time.elapsed + patience
        while time.elapsed < end {
            await pass(.seconds(60))
            guard oracle.breach == nil, let house else { return false }
            if state.withLock(\.isSignedOut) { await signInAgain() }
            let live = try? house.store.reader.liveCount(of: cloud.userID)
            if live == 0, state.withLock(\.underWay) == 0 { return true }
        }
        guard let house else { return false }
        if state.withLock(\.underWay) > 0 {
            oracle.say("I3", "somebody still waits for an answer")
            return false
        }
        let changes = (try? house.store.reader.changes(of: cloud.userID)) ?? []
        let words = changes.map { change in
            "\(change.summary.typeText) \(change.summary.state) "
                + (change.change?.lastFailure.map { "\($0.kind): \($0.message)" } ?? "")
        }
        oracle.say("I3", "still pending: \(words.joined(separator: "; "))")
        return false
    }

    /// A person has what was set aside tried once more, and asks for a sync.
    private func askEverything() async {
        guard let house else { return }
        for _ in 0..<3 {
            await takeOwn(Step(number: -1, deed: .retry, isAside: false, turns: 0))
            await pass(.seconds(70))
        }
        for _ in 0..<4 {
            let report = try? await house.scheduler.address.ask { .sync(isFull: true, $0) }
            history.note("the last sync ended: \(report.map { "\($0.outcome)" } ?? "unanswered")")
            if report?.outcome == .completed { return }
            await pass(.seconds(70))
        }
        oracle.say("I3", "no sync completes although nothing goes wrong")
    }

    private func judge() async {
        guard let house else { return }
        let changes = (try? house.store.reader.changes(of: cloud.userID)) ?? []
        if !changes.isEmpty {
            let words = changes.map {
                "\($0.summary.typeText) \($0.change?.lastFailure?.message ?? "")"
            }
            oracle.say("I3", "set aside for good: \(words.joined(separator: "; "))")
            return
        }
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

    func compareFigures() {}

    private func judgeFigures(_ house: House) async {
        let page = String(decoding: await house.registry.page(.prometheus), as: UTF8.self)
        let counts = state.withLock(\.counts)
        for disposition in [SyncMetrics.Disposition.saved, .queued, .rejected] {
            let told = page.split(separator: "\n").filter {
                $0.hasPrefix("holdfast_edits_total{") && $0.contains("\"\(disposition.rawValue)\"")
            }
            .compactMap { line in line.split(separator: " ").last.flatMap { Double($0) } }
            .reduce(0, +)
            let known = counts[disposition] ?? 0
            guard disposition != .queued || !oracle.with(\.hasCopies) else { continue }
            if Int(told) != known, !oracle.with(\.hasCopies) {
                oracle.say("I19", "\(known) edits were \(disposition), and the figure says \(told)")
            }
        }
    }

    private func judgeSecrets(_ house: House) {
        let words = oracle.with { Array($0.words.keys) }
        for file in [House.file, House.file + "-wal"] {
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
