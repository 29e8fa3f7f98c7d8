extension ReportPage {
    /// What changed while the test ran.
    static func charts(of report: LoadReport) -> [Chart] {
        let samples = report.samples
        func line(_ name: String, _ value: (Sample) -> Double?) -> Chart.Line {
            Chart.Line(
                name: name,
                points: samples.compactMap { sample in
                    value(sample).map { (sample.seconds, $0) }
                }.thinned
            )
        }
        func chart(
            _ title: String,
            _ explanation: String,
            _ lines: [Chart.Line],
            _ word: @escaping @Sendable (Double) -> String = { Int($0.rounded()).grouped }
        ) -> Chart {
            Chart(
                title: title,
                explanation: explanation,
                lines: lines,
                phases: report.phases,
                seconds: report.seconds,
                word: word
            )
        }
        return [
            chart(
                "Latency of edits, in milliseconds",
                "Of the edits of each moment: half took less than the lower line, 99 of 100 less "
                    + "than the upper one.",
                [line("p50", \.median), line("p99", \.p99)],
                \.brief
            ),
            chart(
                "Edits accepted per second",
                "Each of them is on the disk before it is answered.",
                [line("accepted", \.acceptedPerSecond)]
            ),
            chart(
                "Changes that wait",
                "They gather while the server is away and go when it is back. Edits of the same "
                    + "item are one change.",
                [line("waiting", { $0.pending.map(Double.init) })]
            ),
            chart(
                "Changes brought to the server, per second",
                "How quickly the queue is worked off.",
                [Chart.Line(name: "resolved", points: rates(of: samples).thinned)]
            ),
            chart(
                "Conflicts and backup copies",
                "An item that was edited on both sides is a conflict; the side that gives way is "
                    + "kept as a copy.",
                [
                    line("conflicts", { $0.conflicts.map(Double.init) }),
                    line("copies", { $0.backups.map(Double.init) }),
                ]
            ),
            chart(
                "Memory of the host",
                report.memory.includesFiles
                    ? "What is resident, with what it has mapped from files."
                    : "What is the process's own, without what it has mapped from files.",
                [line("memory", { $0.memory.map(Double.init) })],
                { Int($0).inBytes }
            ),
        ]
    }

    /// What was resolved between one sample and the next, for each second.
    private static func rates(of samples: [Sample]) -> [(seconds: Double, value: Double)] {
        zip(samples, samples.dropFirst()).compactMap { earlier, later in
            guard let before = earlier.resolved, let after = later.resolved else { return nil }
            let seconds = max(0.001, later.seconds - earlier.seconds)
            // A host that was killed counts anew.
            return (later.seconds, Double(max(0, after - before)) / seconds)
        }
    }

    var charts: [Chart] { Self.charts(of: report) }

    static let style = """
        :root{color-scheme:light dark;--ground:#fff;--text:#1c2024;--quiet:#60646c;--rule:#d9dce1;
        --tile:#f3f4f6;--good:#18794e;--bad:#c62a2f;--a:#0b68cb;--b:#c2410c;--outage:#fde8e8;
        --drain:#e3f0fb;--other:transparent}
        @media (prefers-color-scheme:dark){:root{--ground:#111315;--text:#e8eaed;--quiet:#9aa0a8;
        --rule:#33373d;--tile:#1b1e22;--good:#4cc38a;--bad:#ff6369;--a:#6cb2ff;--b:#ff9d5c;
        --outage:#38191b;--drain:#142739}}
        body{margin:0;background:var(--ground);color:var(--text);
        font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
        main{max-width:800px;margin:0 auto;padding:24px 16px 64px}
        h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.2em;font-size:1.2rem}
        h3{margin:0;font-size:1rem}
        .verdict{font-weight:600;padding:10px 14px;border-left:4px solid;background:var(--tile)}
        .verdict.good,td.good{color:var(--good)}.verdict.bad,td.bad{color:var(--bad)}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;
        margin:20px 0}
        .tiles div{background:var(--tile);padding:12px;border-radius:6px}
        .tiles b{display:block;font-size:1.35rem}.tiles span{color:var(--quiet);font-size:.85rem}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}
        th,td{text-align:left;padding:6px 10px 6px 0;border-bottom:1px solid var(--rule);
        vertical-align:top}th{color:var(--quiet);font-weight:500}
        .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
        td ul{margin:6px 0 0;padding-left:18px}
        figure{margin:28px 0}figcaption p{margin:2px 0 6px;color:var(--quiet);font-size:.9rem}
        svg{width:100%;height:auto;display:block}
        .grid{stroke:var(--rule);stroke-width:1}.band{fill:var(--other)}
        .band.outage{fill:var(--outage)}.band.drain{fill:var(--drain)}
        svg text{fill:var(--quiet);font-size:11px}.scale{text-anchor:end}.time{text-anchor:middle}
        .line{fill:none;stroke-width:1.8;stroke-linecap:round}.line.l0{stroke:var(--a)}.line.l1{stroke:var(--b)}
        .key{display:inline-block;width:14px;height:3px;margin:0 6px 4px 0}
        .key.l0{background:var(--a)}.key.l1{background:var(--b)}
        .legend,footer{color:var(--quiet);font-size:.88rem}footer{margin-top:48px}
        """
}

extension [(seconds: Double, value: Double)] {
    /// No more points than a chart is wide: of those that fall together, the largest.
    fileprivate var thinned: Self {
        let step = count / 700 + 1
        return stride(from: 0, to: count, by: step).compactMap { start in
            self[start..<Swift.min(start + step, count)].max { $0.value < $1.value }
        }
    }
}
