extension Course {
    /// How many users' vaults are compared with what the host shows, at most.
    private static let viewedUsers = 200

    /// Looks at what became of every edit of a round.
    ///
    /// - Returns: What each user has then.
    func judge(_ ledgers: [UserLedger]) async throws -> [Set<Content>] {
        journal.begin("check")
        let verdicts = try await inTurn(Array(ledgers.enumerated()), atOnce: 8) { place, ledger in
            try await verdict(on: ledger, comparesView: Self.isViewed(place, of: ledgers.count))
        }
        journal.write { report in
            for (verdict, _) in verdicts { report.verdict.add(verdict) }
            report.verdict.add(verdictOnAll)
        }
        return verdicts.map(\.contents)
    }

    /// Those whose view is compared lie evenly among all.
    static func isViewed(_ place: Int, of users: Int) -> Bool {
        place * viewedUsers % users < viewedUsers
    }

    /// A host that takes no edit at all loses none, and is of no use to anybody.
    private var verdictOnAll: Verdict {
        var verdict = Verdict()
        if meter.done > 0, meter.queued + meter.saved == 0 {
            verdict.fail(Check.Failure(.acknowledged, "none of \(meter.done) edits was taken"))
        }
        return verdict
    }

    private func verdict(
        on ledger: UserLedger,
        comparesView: Bool
    ) async throws -> (verdict: Verdict, contents: Set<Content>) {
        let resident = ledger.resident
        let pending = try await host.side.pending(resident.account)
        // The host looks at what it has brought upstream before it is compared.
        if comparesView { try await host.side.sync(resident.account) }
        let (found, unreadable) = try await resident.device.everything()
        let evidence = UserEvidence(
            user: resident.user,
            plan: ledger.plan,
            outcomes: ledger.outcomes,
            foreignTaken: ledger.foreignTaken,
            ids: ledger.ids,
            olderPasswords: ledger.olderPasswords,
            found: found,
            // Of the others the host may still have to hear what a round before has left.
            beganFresh: comparesView || profile.rounds == 1,
            unreadable: unreadable,
            shown: comparesView ? try await host.side.items(resident.account) : nil
        )
        var verdict = Checker.judge(evidence)
        verdict.examine(.queue)
        if pending.total > 0 {
            let text = "\(pending.total) changes wait, \(pending.quarantined) of them set aside"
            verdict.fail(Check.Failure(.queue, user: resident.user, text))
        }
        return (verdict, Set(found.filter { !$0.isInTrash }.map(\.content)))
    }

    /// The host's own figures against what was done to it. Others may edit on a host that runs already.
    func compareFigures() async throws {
        guard let ops = host.ops else { return }
        guard let page = await ops.page().map(sinceStart) else {
            try Task.checkCancellation()
            return journal.write { $0.verdict.add(Self.verdict(on: ops.absence, profile)) }
        }
        var verdict = Verdict()
        func compare(_ what: String, _ said: Int, _ counted: Int) {
            verdict.examine(.metrics)
            guard landlord == nil ? said < counted : said != counted else { return }
            verdict.fail(Check.Failure(.metrics, "\(what): \(said), and it should be \(counted)"))
        }
        if landlord != nil {
            compare("holdfast_pending_changes", page.sum("holdfast_pending_changes"), 0)
        }
        if !settings.killsHost {
            for (disposition, counted) in [("queued", meter.queued), ("saved", meter.saved)] {
                let label = "disposition=\"\(disposition)\""
                let said = page.sum("holdfast_edits_total", label)
                compare("holdfast_edits_total{\(label)}", said, counted)
            }
        }
        let pages = (landlord?.formerPages ?? []) + [page]
        checkBudget(pages, &verdict)
        journal.write { report in
            report.verdict.add(verdict)
            report.isHostSeen = true
            report.resolutions = pages.sums("holdfast_resolutions_total", by: "outcome")
            report.conflicts = pages.sums("holdfast_conflicts_total", by: "kind")
            report.backups = pages.sums("holdfast_backups_total", by: "outcome")
            report.retries = pages.sums("holdfast_retries_scheduled_total", by: "cause")
        }
    }

    /// Figures that were to be compared and cannot be read are not as they should be.
    static func verdict(on absence: LoadFailure, _ profile: LoadProfile) -> Verdict {
        var verdict = Verdict()
        let checks: [Check.Name] =
            profile.requestsPerSecond == nil ? [.metrics] : [.metrics, .budget]
        for check in checks {
            verdict.fail(Check.Failure(check, absence.description))
        }
        return verdict
    }

    /// A server that takes only so much is asked little more than what there is to do.
    private func checkBudget(_ pages: [MetricsPage], _ verdict: inout Verdict) {
        guard profile.requestsPerSecond != nil else { return }
        let conflicts = pages.reduce(0) { $0 + $1.sum("holdfast_conflicts_total") }
        journal.write { report in
            let asked = report.upstreamCalls.values.reduce(0, +)
            let drain = report.drain ?? LoadReport.Drain()
            let visits = profile.users * profile.rounds
            let needed = drain.changes + drain.removals + 4 * visits + 2 * conflicts
            verdict.examine(.budget)
            guard Double(asked) > 1.05 * Double(needed) else { return }
            let text =
                "\(asked) requests for \(drain.changes) changes of \(profile.users) "
                + "users with \(conflicts) conflicts, which need \(needed)"
            verdict.fail(Check.Failure(.budget, text))
        }
    }

    /// What is known at the end, however the test ended.
    func closeBooks(_ sampler: Sampler) async {
        let samples = sampler.samples
        let figures = meter.figures
        journal.write { report in
            report.samples = samples
            report.operations = figures
            report.memory.largest = samples.compactMap(\.memory).max() ?? 0
        }
    }
}
