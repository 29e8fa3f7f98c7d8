// Ways to register: plain, by one label, by two, and as a figure that is kept elsewhere and read when
// somebody scrapes.

extension Registry {
    public func register<Member>(_ instrument: Instrument<Member>) -> Member {
        insist { () throws(Refusal) in try admit(instrument) }
    }

    public func register<Value, Member>(
        _ instrument: Instrument<Member>,
        by label: Label<Value>
    ) -> Labelled<Value, Member> {
        insist { () throws(Refusal) in try admit(instrument, by: label) }
    }

    public func register<First, Second, Member>(
        _ instrument: Instrument<Member>,
        by first: Label<First>,
        _ second: Label<Second>
    ) -> Labelled<First, Labelled<Second, Member>> {
        insist { () throws(Refusal) in try admit(instrument, by: first, second) }
    }

    /// A figure that is kept elsewhere. Where it is not known, its line is left out.
    public func register<Member: Figure>(
        _ instrument: Instrument<Member>,
        read: @escaping @Sendable () -> Double?
    ) {
        insist { () throws(Refusal) in try admit(instrument.metric, readings: [([], read)]) }
    }

    /// Figures that are kept elsewhere. Where one is not known, its line is left out.
    public func register<Value, Member: Figure>(
        _ instrument: Instrument<Member>,
        by label: Label<Value>,
        read: @escaping @Sendable (Value) -> Double?
    ) {
        let readings: [Reading] = zip(label.values, label.texts).map { value, text in
            (labels: [text], read: { read(value) })
        }
        insist { () throws(Refusal) in
            try label.check(for: instrument.metric)
            try admit(instrument.metric.labelled(label.name), readings: readings)
        }
    }

    /// Facts that are the same for the whole life of the program, as the labels of a constant 1.
    public func registerInfo(
        _ name: String,
        _ help: String,
        _ facts: KeyValuePairs<String, String>
    ) {
        let instrument = Instrument.gauge(name, help).labelled(facts.map(\.key))
        insist { () throws(Refusal) in try admit(instrument, [facts.map(\.value)])[0] }.set(1)
    }
}

/// A refused metric is a mistake in the program, and there is nobody to hand it to.
private func insist<Result>(_ admit: () throws(Refusal) -> Result) -> Result {
    do throws(Refusal) {
        return try admit()
    } catch {
        preconditionFailure(error.description)
    }
}
