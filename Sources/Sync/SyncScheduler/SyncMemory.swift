internal import Vault

/// What a scheduler has to know of an account's syncs after a restart.
struct SyncMemory: Equatable, Sendable {
    var lastSync: Moment?
    var lastReport: SyncReport?
    /// When everything was asked for last, not only whether it has changed.
    var lastFetch: Moment?
    /// Upstream's number for what was taken over last.
    var accountRevision: Int64?
    /// Where base stood then. What this host writes upstream changes that number, so one that stays as
    /// it was is none that can be believed.
    var base: RefreshMark?
    var doubt: SyncDoubt?
    /// How the switches stood upstream.
    var switches: Switches?
    /// Upstream's own "not before".
    var hold: Moment?
    /// When the next try is planned after failures, and how long the wait was.
    var retry: Moment?
    var wait: Duration?
    var failures: Int64 = 0
}

/// As it is kept: a line for each thing that is known. What cannot be read is not known.
extension SyncMemory {
    init(text: String) {
        var facts: [Substring: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2 { facts[parts[0]] = String(parts[1]) }
        }
        func number(_ name: Substring) -> Int64? { facts[name].flatMap { Int64($0) } }
        func names(_ name: Substring) -> Set<String> {
            Set(facts[name]?.split(separator: ",").map(String.init) ?? [])
        }
        func moment(_ name: Substring) -> Moment? { number(name).map(Moment.init(ticks:)) }
        lastSync = moment("lastSync")
        lastFetch = moment("lastFetch")
        accountRevision = number("accountRevision")
        base = facts["base"].flatMap(RefreshMark.init)
        hold = moment("hold")
        retry = moment("retry")
        wait = number("wait").map(Duration.milliseconds)
        failures = number("failures") ?? 0
        if let outcome = facts["outcome"].flatMap(SyncReport.Outcome.init),
            let end = moment("ended")
        {
            lastReport = SyncReport(outcome, reason: facts["reason"], ended: end)
        }
        if let changes = number("offlineChanges"), let resolution = number("resolution") {
            switches = Switches(offlineChanges: changes == 1, resolution: resolution == 1)
        }
        if let kind = facts["doubt"].flatMap(SyncDoubt.Kind.init), let since = moment("doubtSince"),
            let print = facts["doubtPrint"].flatMap({ UInt64($0) })
        {
            doubt = SyncDoubt(
                kind: kind,
                fingerprint: print,
                accountRevision: number("doubtRevision"),
                missing: names("doubtMissing"),
                fallen: names("doubtFallen"),
                since: since
            )
        }
    }

    var text: String {
        let facts: [(name: String, value: String?)] = [
            ("lastSync", lastSync?.ticks.description),
            ("lastFetch", lastFetch?.ticks.description),
            ("accountRevision", accountRevision?.description),
            ("base", base?.text),
            ("outcome", lastReport?.outcome.rawValue),
            ("ended", lastReport?.ended.ticks.description),
            (
                "reason",
                lastReport?.reason?.split(whereSeparator: \.isNewline).joined(separator: " ")
            ),
            ("offlineChanges", switches.map { $0.offlineChanges ? "1" : "0" }),
            ("resolution", switches.map { $0.resolution ? "1" : "0" }),
            ("doubt", doubt?.kind.rawValue),
            ("doubtPrint", doubt?.fingerprint.description),
            ("doubtRevision", doubt?.accountRevision?.description),
            ("doubtMissing", doubt.map { $0.missing.sorted().joined(separator: ",") }),
            ("doubtFallen", doubt.map { $0.fallen.sorted().joined(separator: ",") }),
            ("doubtSince", doubt?.since.ticks.description),
            ("hold", hold?.ticks.description),
            ("retry", retry?.ticks.description),
            ("wait", wait.map { String(Int64($0 / .milliseconds(1))) }),
            ("failures", failures == 0 ? nil : failures.description),
        ]
        return facts.compactMap { fact in fact.value.map { "\(fact.name) \($0)\n" } }.joined()
    }
}
