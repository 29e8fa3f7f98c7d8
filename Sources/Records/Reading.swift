/// What reading a record comes to. None of it is a reason to let the bytes go.
public enum Reading<Value> {
    case readable(Value)
    /// Written by a newer build, for readers of at least this version.
    case newer(leastReader: Int)
    case damaged(Damage)

    func map<Other>(_ transform: (Value) -> Reading<Other>) -> Reading<Other> {
        switch self {
        case .readable(let value): transform(value)
        case .newer(let leastReader): .newer(leastReader: leastReader)
        case .damaged(let damage): .damaged(damage)
        }
    }

    public var value: Value? {
        if case .readable(let value) = self { value } else { nil }
    }
}

extension Reading: Sendable where Value: Sendable {}

/// Why a record cannot be read.
public enum Damage: String, Error, CaseIterable, Hashable, Sendable {
    case envelope = "the envelope is no protobuf message, or lacks a part"
    case checksum = "the checksum does not fit the payload"
    case payload = "the payload is no protobuf message of its kind"
    case field = "a field is missing or holds a word that does not exist"
    case snapshot = "the snapshot is missing or not the one that was recorded"
    case foreign = "the record belongs to another row"
}
