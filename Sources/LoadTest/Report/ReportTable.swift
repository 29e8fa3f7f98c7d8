/// The report for a terminal.
public struct ReportTable: Sendable {
    private let report: LoadReport

    public init(_ report: LoadReport) {
        self.report = report
    }

    public var text: String {
        var parts = [operations, figures, checks]
        if let ceilings { parts.insert(ceilings, at: 2) }
        parts.append(conclusion)
        return parts.joined(separator: "\n\n")
    }

    private var operations: String {
        var rows = [
            ["edit", "accepted", "refused", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"]
        ]
        for operation in Operation.allCases {
            guard let figures = report.operations[operation] else { continue }
            rows.append(
                row(operation.rawValue, figures.acknowledged, figures.refused, figures.latencies)
            )
        }
        rows.append(row("all", report.acknowledged, report.refused, report.latencies))
        return aligned(rows)
    }

    private func row(
        _ name: String,
        _ accepted: Int,
        _ refused: Int,
        _ times: LatencyHistogram
    ) -> [String] {
        [name, accepted.grouped, refused.grouped] + times.words
    }

    private var figures: String {
        var rows: [[String]] = [
            [
                "throughput",
                report.acceptedPerSecond.map { "\($0.brief) accepted edits/s" } ?? Self.notReached,
            ],
            ["sign-in", signIn],
            ["drain", drain],
        ]
        if report.isHostSeen {
            rows += [
                ["conflicts", list(report.conflicts)],
                ["backup copies", list(report.backups)],
                ["resolutions", list(report.resolutions)],
                ["retries", list(report.retries)],
            ]
        }
        if report.memory.isKnown { rows.append(["memory", memory]) }
        if report.editProcessorSeconds > 0 {
            let cost = report.processorPerEdit.brief
            rows.append(["cost of an edit", "\(cost) µs of a processor in the host"])
        }
        if report.unknown > 0 { rows.append(["taken or not", report.unknown.grouped]) }
        if report.unsent > 0 { rows.append(["not sent", report.unsent.grouped]) }
        if !report.upstreamCalls.isEmpty {
            rows.append(["server was asked", list(report.upstreamCalls)])
            let busiest = "\(report.busiestSecond.grouped) in its busiest second"
            rows.append(["", "\(busiest), \(report.refusedCalls.grouped) refused for that"])
        }
        return aligned(rows)
    }

    private static let notReached = "it did not come to that"

    private var signIn: String {
        guard let seconds = report.signInSeconds else { return Self.notReached }
        return "\(report.profile.users.grouped) users in \(seconds.brief) s"
    }

    private var drain: String {
        guard let drain = report.drain else { return Self.notReached }
        guard drain.changes > 0 else { return "nothing waited" }
        let most =
            if let seconds = drain.seconds, let rate = drain.perSecond {
                "in \(seconds.brief) s (\(rate.brief)/s)"
            } else {
                "not reached"
            }
        return
            "\(drain.changes.grouped) changes, the first after \(drain.secondsUntilFirst.brief) s; "
            + "95 in 100 \(most), all in \(drain.secondsUntilLast.brief) s"
    }

    private var memory: String {
        let memory = report.memory
        var words = ["\(memory.atStart.inBytes) at first"]
        if memory.signedIn > 0 { words.append("\(memory.signedIn.inBytes) signed in") }
        if memory.largest > 0 {
            words.append("\(memory.largest.inBytes) at most")
            words.append("\(report.memoryPerUser.inBytes) for each user")
        }
        if memory.includesFiles { words.append("with what it has mapped from files") }
        return words.joined(separator: ", ")
    }

    private func list(_ counts: [String: Int]) -> String {
        if counts.isEmpty { return "none" }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.grouped)" }
            .joined(separator: ", ")
    }

    private var ceilings: String? {
        guard let ceilings = report.ceilings else { return nil }
        let rows: [(String, Double?, Double?)] = [
            (
                "edits per second, a bare commit", ceilings.hostPerSecond,
                ceilings.bareCommitPerSecond
            ),
            (
                "p99 ms at \(ceilings.pacedPerSecond.brief)/s, a bare commit",
                ceilings.hostPaced99, ceilings.bareCommitPaced99
            ),
            (
                "changes per second, the server's own pace", report.drain?.perSecond,
                ceilings.upstreamPerSecond
            ),
        ]
        let lines = rows.map { name, host, ceiling in
            let ratio = LoadReport.Ceilings.ratio(host, ceiling)
            return [name, host?.brief ?? "-", ceiling?.brief ?? "-", ratio]
        }
        return aligned([["beside its ceiling", "host", "ceiling", "ratio"]] + lines)
    }

    private var checks: String {
        report.verdict.all.map { check in
            let head = "\(check.isHeld ? "holds" : "FAILS")  \(check.name.sentence)"
            let count = "  (\(check.examined.grouped) looked at)"
            let examples = check.failures.prefix(5).map { failure in
                "         " + (failure.user.map { "user \($0): " } ?? "") + failure.text
            }
            let rest = check.failures.count - examples.count
            return ([head + count] + examples + (rest > 0 ? ["         and \(rest) more"] : []))
                .joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private var conclusion: String {
        switch report.ending {
        case .completed where report.isGood:
            ["Every check holds.", report.shortfall].compactMap(\.self).joined(separator: " ")
        case .completed: "Not every check holds."
        case .interrupted: "Ended before it was done; this is what is known."
        case .failed(let reason, _): "It could not be done: \(reason)"
        }
    }

    /// The first column to the left, numbers to the right, sentences as they come.
    private func aligned(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.compactMap { $0.count > column ? $0[column].count : nil }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let gap = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + gap : columns == 2 ? cell : gap + cell
            }
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
