import JSON

extension JSON.Value {
    /// The elements; none of what is no array.
    var elements: [JSON.Value] { array.map { Array($0) } ?? [] }
    /// The members; none of what is no object.
    var members: [JSON.Member] { object.map { Array($0) } ?? [] }
    var isEmptyText: Bool { kind == .string && raw.range.count == 2 }
    /// Where nothing was to be encrypted, some clients have left null and some an empty text.
    var saysNothing: Bool { isNull || isEmptyText }
}
