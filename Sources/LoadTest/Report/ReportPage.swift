/// The report as a page that needs nothing but itself, for somebody who was not there.
public struct ReportPage: Sendable {
    let report: LoadReport

    public init(_ report: LoadReport) {
        self.report = report
    }

    public var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Holdfast load test, \(title.escaped)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>Holdfast load test: \(title.escaped)</h1>
        <p class="verdict \(report.isGood ? "good" : "bad")">\(conclusion.escaped)</p>
        \(story)
        \(tiles)
        <h2>What was checked</h2>
        \(checks)
        <h2>How long edits took</h2>
        \(operations)
        \(ceilings)
        <h2>How it went</h2>
        \(charts.map(\.html).joined(separator: "\n"))
        <h2>What the host did</h2>
        \(deeds)
        <footer>Begun \(report.startedAt.escaped), seed \(report.profile.seed).
        The same figures are in the JSON report.</footer>
        </main>
        </body>
        </html>
        """
    }

    private var title: String { report.profile.name?.rawValue ?? "\(report.profile.users) users" }

    private var conclusion: String {
        switch report.ending {
        case .completed where report.isGood:
            ["Every check holds: nothing was lost, nothing doubled.", report.shortfall]
                .compactMap(\.self).joined(separator: " ")
        case .completed: "Not every check holds. See below."
        case .interrupted: "The test was ended before it was done. This is what is known."
        case .failed(let reason, _): "The test could not be done: \(reason)"
        }
    }

    private var story: String {
        let profile = report.profile
        let share = (profile.conflicts * 100).brief
        let rounds = profile.rounds.grouped
        let again = profile.rounds > 1 ? " All this but the sign-in came \(rounds) times." : ""
        return """
            <p>\(profile.users.grouped) users with \(profile.items.grouped) items each signed in to a
            host. Then the server went away. While it was away, each user made
            \(profile.edits.grouped) edits through the host, \(profile.concurrency) at once in all,
            and a second device of the same user edited \(share) in a hundred of the same items at
            the server. The server came back, the host brought the edits there, and then what the
            server held was opened and compared with what every user had been told.\(again)</p>
            """
    }

    // MARK: Figures

    private var tiles: String {
        let latencies = report.latencies
        let p99 = "\(latencies.percentile(0.99).milliseconds.brief) ms"
        let all: [(figure: String?, name: String)] = [
            (report.acknowledged.grouped, "edits accepted while the server was away"),
            (report.acceptedPerSecond.map { "\($0.brief)/s" }, "accepted"),
            (latencies.count > 0 ? p99 : nil, "99 of 100 edits took less"),
            (report.drain?.perSecond.map { "\($0.brief)/s" }, "brought to the server"),
            (report.conflictCount?.grouped, "conflicts"),
            (report.memory.isKnown ? report.memoryPerUser.inBytes : nil, "memory for each user"),
        ]
        let cells = all.map { tile in
            let figure = tile.figure ?? "not known"
            return "<div><b>\(figure.escaped)</b><span>\(tile.name.escaped)</span></div>"
        }
        return "<div class=\"tiles\">\(cells.joined())</div>"
    }

    private var checks: String {
        let rows = report.verdict.all.map { check in
            let examples = check.failures.prefix(10).map { "<li>\(words(for: $0).escaped)</li>" }
            let list = examples.isEmpty ? "" : "<ul>\(examples.joined())</ul>"
            let mark =
                check.isHeld ? "<td class=\"good\">holds</td>" : "<td class=\"bad\">fails</td>"
            return """
                <tr>\(mark)<td>\(check.name.sentence.escaped)\(list)</td>\
                <td class="number">\(check.examined.grouped)</td>\
                <td class="number">\(check.failures.count.grouped)</td></tr>
                """
        }
        return """
            <div class="wide"><table><tr><th></th><th>What must hold</th><th class="number">Looked at</th>
            <th class="number">Wrong</th></tr>\(rows.joined())</table></div>
            """
    }

    private func words(for failure: Check.Failure) -> String {
        (failure.user.map { "User \($0): " } ?? "") + failure.text
    }

    private var operations: String {
        let rows = Operation.allCases.compactMap { operation in
            report.operations[operation].map {
                row(operation.rawValue, $0.acknowledged, $0.refused, $0.latencies)
            }
        }
        let all = row("all", report.acknowledged, report.refused, report.latencies)
        return """
            <p>In milliseconds, from the moment at which an edit was \(start)</p>
            <div class="wide"><table><tr><th>Edit</th><th class="number">Accepted</th><th class="number">Refused</th><th class="number">p50</th>
            <th class="number">p90</th><th class="number">p99</th><th class="number">p99.9</th><th class="number">Longest</th></tr>
            \(rows.joined())\(all)</table></div>
            """
    }

    /// From when the time of an edit counts.
    private var start: String {
        let due = """
            due, so that a host which stands still is late for everybody who would have come meanwhile.
            """
        let profile = report.profile
        if profile.measuresCeilings, profile.edits > 1 {
            return "sent, and in the second half of the edits, which had a pace, " + due
        }
        return profile.offlineSeconds > 0
            ? due : "sent: each came as soon as the one before was done."
    }

    private func row(
        _ name: String,
        _ accepted: Int,
        _ refused: Int,
        _ times: LatencyHistogram
    ) -> String {
        let figures = [accepted.grouped, refused.grouped] + times.words
        let cells = figures.map { "<td class=\"number\">\($0.escaped)</td>" }
        return "<tr><td>\(name.escaped)</td>\(cells.joined())</tr>"
    }

    private var ceilings: String {
        guard let ceilings = report.ceilings else { return "" }
        let rows: [(String, Double?, Double?)] = [
            (
                "Edits per second; a handler that only commits", ceilings.hostPerSecond,
                ceilings.bareCommitPerSecond
            ),
            (
                "p99 in ms at \(ceilings.pacedPerSecond.brief)/s; a handler that only commits",
                ceilings.hostPaced99, ceilings.bareCommitPaced99
            ),
            (
                "Changes per second; what the server takes of clients that do nothing else",
                report.drain?.perSecond, ceilings.upstreamPerSecond
            ),
        ]
        let lines = rows.map { name, host, ceiling in
            let ratio = LoadReport.Ceilings.ratio(host, ceiling)
            return """
                <tr><td>\(name.escaped)</td><td class="number">\(host?.brief ?? "-")</td>\
                <td class="number">\(ceiling?.brief ?? "-")</td><td class="number">\(ratio)</td></tr>
                """
        }
        return """
            <h2>Beside the ceilings</h2><div class="wide"><table><tr><th>Figure; its ceiling</th>
            <th class="number">Host</th><th class="number">Ceiling</th><th class="number">Ratio</th></tr>\(lines.joined())</table></div>
            """
    }

    private var deeds: String {
        let groups = [
            ("Resolutions", report.resolutions), ("Conflicts", report.conflicts),
            ("Backup copies", report.backups), ("Retries", report.retries),
            ("Requests to the server", report.upstreamCalls),
        ]
        let rows = groups.flatMap { group, counts in
            counts.sorted { $0.key < $1.key }.map { name, count in
                """
                <tr><td>\(group.escaped)</td><td>\(name.escaped)</td>\
                <td class="number">\(count.grouped)</td></tr>
                """
            }
        }
        return """
            <div class="wide"><table><tr><th>What</th><th>Which</th><th class="number">How often</th></tr>
            \(rows.joined())</table></div>
            """
    }
}
