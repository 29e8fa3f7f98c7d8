import JSON

extension JSON.Value {
    /// The elements; none of what is no array.
    var elements: [JSON.Value] { array.map { Array($0) } ?? [] }
    /// The members; none of what is no object.
    var members: [JSON.Member] { object.map { Array($0) } ?? [] }
}
