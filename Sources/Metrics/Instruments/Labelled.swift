/// A label and all the values it will ever have.
///
/// Every series exists from the start, at 0: a value that only appears with its first event makes
/// Prometheus miss that event.
public struct Label<Value: Hashable & Sendable>: Sendable {
    let name: String
    let texts: [String]
    let values: [Value]
    /// Only for many values; few are found faster by looking at each.
    private let positions: [Value: Int]?
    private let otherwise: Int?

    init(_ name: String, values: [Value], texts: [String], otherwise: String?) {
        self.name = name
        self.values = values
        self.texts = otherwise.map { texts + [$0] } ?? texts
        self.otherwise = otherwise == nil ? nil : values.count
        let numbered = zip(values, values.indices)
        positions = values.count > 16 ? Dictionary(numbered) { first, _ in first } : nil
    }

    /// A value that was not announced counts as `otherwise`, and stops the program if there is none.
    func position(of value: Value) -> Int {
        let known = positions.map { $0[value] } ?? values.firstIndex(of: value)
        guard let position = known ?? otherwise else {
            preconditionFailure("The label \(name) has no value \(value).")
        }
        return position
    }
}

extension Label where Value: CaseIterable & RawRepresentable<String> {
    /// All cases of the enumeration, by their raw values.
    public init(_ name: String, of cases: Value.Type = Value.self) {
        let values = Array(Value.allCases)
        self.init(name, values: values, texts: values.map(\.rawValue), otherwise: nil)
    }
}

extension Label where Value: LosslessStringConvertible {
    /// A list that is known at registration: routes, status codes.
    ///
    /// - Parameter otherwise: What all other values are counted as.
    public init(_ name: String, _ values: [Value], otherwise: String? = nil) {
        self.init(name, values: values, texts: values.map(\.description), otherwise: otherwise)
    }
}

/// The series of a metric by the value of a label; `Member` is what counts, or the next label.
///
/// ```swift
/// edits[.create, .queued].increment()
/// ```
///
/// Looking up costs twenty times as much as counting. Where that matters, keep the member.
public struct Labelled<Value: Hashable & Sendable, Member: Sendable>: Sendable {
    private let label: Label<Value>
    private let members: [Member]

    init(_ label: Label<Value>, _ members: [Member]) {
        self.label = label
        self.members = members
    }

    public subscript(_ value: Value) -> Member {
        members[label.position(of: value)]
    }

    public subscript<Second, Leaf>(
        _ first: Value,
        _ second: Second
    ) -> Leaf where Member == Labelled<Second, Leaf> {
        members[label.position(of: first)][second]
    }
}
