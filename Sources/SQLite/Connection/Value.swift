/// What goes into a statement in the place of a question mark.
public enum Value: Hashable, Sendable {
    case null
    case int(Int)
    case text(String)
    case blob([UInt8])
}

extension Value {
    /// NULL when there is none.
    public init(_ number: Int?) { self = number.map(Value.int) ?? .null }
    /// NULL when there is none.
    public init(_ text: String?) { self = text.map(Value.text) ?? .null }
    /// NULL when there are none.
    public init(_ bytes: [UInt8]?) { self = bytes.map(Value.blob) ?? .null }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    public init(integerLiteral number: Int) { self = .int(number) }
    public init(stringLiteral text: String) { self = .text(text) }
    public init(nilLiteral: ()) { self = .null }
}
