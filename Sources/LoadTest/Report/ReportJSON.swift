public import JSON

/// The report as JSON; `Docs/PERFORMANCE.md` names its members. Times are in seconds since the
/// beginning, latencies in milliseconds, memory in bytes; what is not known is null.
extension LoadReport: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object { report in
            report.add("object", "loadReport")
            report.add("version", 1)
            report.add("startedAt", startedAt)
            report.add("ending", ending.word)
            report.add("reason", ending.reason)
            report.add("good", isGood)
            report.add("seconds", JSON.Finite(seconds))
            writeProfile(to: &report)
            writeEdits(to: &report)
            writeMachine(to: &report)
            writeOutcome(to: &report)
            writeTimes(to: &report)
        }
    }

    private func writeProfile(to report: inout JSON.ObjectWriter) {
        report.object("profile") {
            $0.add("name", profile.name?.rawValue)
            $0.add("users", profile.users)
            $0.add("items", profile.items)
            $0.add("edits", profile.edits)
            $0.add("conflicts", JSON.Finite(profile.conflicts))
            $0.add("offlineSeconds", JSON.Finite(profile.offlineSeconds))
            $0.add("concurrency", profile.concurrency)
            $0.add("seed", profile.seed)
            $0.add("repeats", JSON.Finite(profile.repeats))
            $0.add("removals", JSON.Finite(profile.removals))
            $0.add("rounds", profile.rounds)
            $0.add("expiresTokens", profile.expiresTokens)
            $0.add("requestsPerSecond", profile.requestsPerSecond)
            $0.add("measuresCeilings", profile.measuresCeilings)
        }
    }

    private func writeEdits(to report: inout JSON.ObjectWriter) {
        report.object("edits") { edits in
            edits.add("acknowledged", acknowledged)
            edits.add("refused", refused)
            edits.add("unknown", unknown)
            edits.add("unsent", unsent)
            edits.add("seconds", JSON.Finite(editSeconds))
            edits.add("perSecond", acceptedPerSecond.flatMap(JSON.Finite.init))
            edits.add(
                "processorMicroseconds",
                editProcessorSeconds > 0 ? JSON.Finite(processorPerEdit) : nil
            )
            edits.add("latency", Percentiles(latencies))
        }
        report.object("operations") { operations in
            for operation in Operation.allCases {
                guard let figures = self.operations[operation] else { continue }
                operations.object(operation.rawValue) {
                    $0.add("acknowledged", figures.acknowledged)
                    $0.add("refused", figures.refused)
                    $0.add("unknown", figures.unknown)
                    $0.add("unsent", figures.unsent)
                    $0.add("latency", Percentiles(figures.latencies))
                    $0.add("refusals", Counts(figures.refusals))
                }
            }
        }
    }

    private func writeMachine(to report: inout JSON.ObjectWriter) {
        report.add("signInSeconds", signInSeconds.flatMap(JSON.Finite.init))
        report.object("drain") {
            $0.add("changes", drain?.changes)
            $0.add("removals", drain?.removals)
            $0.add("secondsUntilFirst", drain.flatMap { JSON.Finite($0.secondsUntilFirst) })
            $0.add("seconds", drain?.seconds.flatMap(JSON.Finite.init))
            $0.add("secondsUntilLast", drain.flatMap { JSON.Finite($0.secondsUntilLast) })
            $0.add("perSecond", drain?.perSecond.flatMap(JSON.Finite.init))
        }
        let isSeen = memory.isKnown
        report.object("memory") {
            $0.add("atStart", isSeen ? memory.atStart : nil)
            $0.add("signedIn", memory.signedIn > 0 ? memory.signedIn : nil)
            $0.add("largest", memory.largest > 0 ? memory.largest : nil)
            $0.add("perUser", isSeen && memory.largest > 0 ? memoryPerUser : nil)
        }
        report.add("ceilings", ceilings)
    }

    private func writeOutcome(to report: inout JSON.ObjectWriter) {
        for (name, counts) in [
            ("conflicts", conflicts), ("backups", backups), ("resolutions", resolutions),
            ("retries", retries),
        ] { report.add(name, isHostSeen ? Counts(counts) : nil) }
        report.add("upstreamCalls", Counts(upstreamCalls))
        report.add("refusedCalls", refusedCalls)
        report.add("busiestSecond", busiestSecond)
        report.array("checks") { checks in
            for check in verdict.all { checks.add(check) }
        }
    }

    private func writeTimes(to report: inout JSON.ObjectWriter) {
        report.array("phases") { phases in
            for phase in self.phases {
                phases.object {
                    $0.add("name", phase.name)
                    $0.add("begin", JSON.Finite(phase.begin))
                    $0.add("end", JSON.Finite(phase.end))
                }
            }
        }
        report.array("samples") { samples in
            for sample in self.samples { samples.add(sample) }
        }
    }
}

extension LoadReport.Ending {
    fileprivate var word: String {
        switch self {
        case .completed: "completed"
        case .interrupted: "interrupted"
        case .failed: "failed"
        }
    }

    fileprivate var reason: String? {
        if case .failed(let reason, _) = self { reason } else { nil }
    }
}

extension LoadReport.Ceilings: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("hostPerSecond", JSON.Finite(hostPerSecond))
            $0.add("bareCommitPerSecond", bareCommitPerSecond.flatMap(JSON.Finite.init))
            $0.add("pacedPerSecond", JSON.Finite(pacedPerSecond))
            $0.add("hostPaced99", hostPaced99.flatMap(JSON.Finite.init))
            $0.add("bareCommitPaced99", bareCommitPaced99.flatMap(JSON.Finite.init))
            $0.add("upstreamPerSecond", upstreamPerSecond.flatMap(JSON.Finite.init))
        }
    }
}

extension Check: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { check in
            check.add("name", name.rawValue)
            check.add("sentence", name.sentence)
            check.add("holds", isHeld)
            check.add("examined", examined)
            check.add("failures", failures.count)
            check.array("examples") { examples in
                for failure in failures.prefix(20) {
                    examples.object {
                        $0.add("user", failure.user)
                        $0.add("text", failure.text)
                    }
                }
            }
        }
    }
}

extension Sample: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("seconds", JSON.Finite(seconds))
            $0.add("acceptedPerSecond", JSON.Finite(acceptedPerSecond))
            $0.add("p50", median.flatMap(JSON.Finite.init))
            $0.add("p99", p99.flatMap(JSON.Finite.init))
            $0.add("pending", pending)
            $0.add("memory", memory)
            $0.add("conflicts", conflicts)
            $0.add("backups", backups)
            $0.add("resolved", resolved)
            $0.add("retries", retries)
        }
    }
}

/// Percentiles of a histogram, in milliseconds.
private struct Percentiles: JSON.Writable {
    let times: LatencyHistogram

    init(_ times: LatencyHistogram) {
        self.times = times
    }

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("count", times.count)
            $0.add("mean", known(times.mean))
            $0.add("p50", known(times.percentile(0.5)))
            $0.add("p90", known(times.percentile(0.9)))
            $0.add("p99", known(times.percentile(0.99)))
            $0.add("p999", known(times.percentile(0.999)))
            $0.add("max", known(times.largest))
        }
    }

    /// Of no times at all nothing is known.
    private func known(_ time: Duration) -> JSON.Finite? {
        times.count > 0 ? JSON.Finite(time.milliseconds) : nil
    }
}

/// Names with their values, in the order of the names.
private struct Counts<Value: JSON.Writable>: JSON.Writable {
    let rows: [(name: String, value: Value)]

    init(_ counts: [String: Value]) {
        rows = counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    init(_ counts: [Int: Value]) {
        rows = counts.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) }
    }

    func write(to json: inout JSON.Writer) {
        json.object { object in
            for row in rows { object.add(row.name, row.value) }
        }
    }
}
