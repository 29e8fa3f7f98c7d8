// What stands behind the ways to register, with the refusal as an error.

extension Registry {
    typealias Reading = (labels: [String], read: @Sendable () -> Double?)

    func admit<Member>(_ instrument: Instrument<Member>) throws(Refusal) -> Member {
        try admit(instrument, [[]])[0]
    }

    func admit<Value, Member>(
        _ instrument: Instrument<Member>,
        by label: Label<Value>
    ) throws(Refusal) -> Labelled<Value, Member> {
        try label.check(for: instrument.metric)
        let members = try admit(instrument.labelled([label.name]), label.texts.map { [$0] })
        return Labelled(label, members)
    }

    func admit<First, Second, Member>(
        _ instrument: Instrument<Member>,
        by first: Label<First>,
        _ second: Label<Second>
    ) throws(Refusal) -> Labelled<First, Labelled<Second, Member>> {
        try first.check(for: instrument.metric)
        try second.check(for: instrument.metric)
        let sets = first.texts.flatMap { text in second.texts.map { [text, $0] } }
        let members = try admit(instrument.labelled([first.name, second.name]), sets)
        let width = second.texts.count
        let rows = first.texts.indices.map { Array(members[$0 * width..<($0 + 1) * width]) }
        return Labelled(first, rows.map { Labelled(second, $0) })
    }

    /// Makes a member for each set of label values.
    func admit<Member>(
        _ instrument: Instrument<Member>,
        _ sets: [[String]]
    ) throws(Refusal) -> [Member] {
        try instrument.check(instrument.metric)
        let family = try admit(instrument.metric)
        let cells = Cells(rows: sets.count, width: instrument.width)
        let since = secondsNow
        family.add {
            sets.indices.map { instrument.series(sets[$0], cells.row($0), since: since) }
        }
        return sets.indices.map { instrument.make(cells.row($0)) }
    }

    func admit(_ metric: Metric, readings: [Reading]) throws(Refusal) {
        let family = try admit(metric)
        let since = secondsNow
        family.add {
            readings.map { reading in
                let labels = metric.pairs(reading.labels)
                let created =
                    metric.kind == .counter ? CreatedLine(metric, labels, since: since) : nil
                let start = LineStart(metric.name, labels)
                return ReadingSeries(start: start, created: created, read: reading.read)
            }
        }
    }
}

extension Instrument {
    func labelled(_ labels: [String]) -> Instrument {
        var copy = self
        copy.metric = metric.labelled(labels)
        return copy
    }

    fileprivate func series(_ values: [String], _ row: Row, since: Double) -> any Series {
        let labels = metric.pairs(values)
        return show(row, metric, labels, CreatedLine(metric, labels, since: since))
    }
}

extension Metric {
    func labelled(_ labels: String...) -> Metric { labelled(labels) }

    func labelled(_ labels: [String]) -> Metric {
        Metric(kind, name, help, labels: labels)
    }

    fileprivate func pairs(_ values: [String]) -> [(name: String, value: String)] {
        zip(labels, values).map { (name: $0, value: $1) }
    }
}

extension Label {
    func check(for metric: Metric) throws(Refusal) {
        guard !texts.isEmpty else { throw .valuesMissing(metric.name, label: name) }
        var seen: Set<String> = []
        for text in texts where !seen.insert(text).inserted {
            throw .valueTwice(metric.name, value: text)
        }
    }
}
