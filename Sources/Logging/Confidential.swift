/// A value that must not be seen: a password, a token.
///
/// It has no text. It cannot be a field of a log line, because it is no ``LogField``, nor be put
/// into a string; where texts are made without the compiler's help (`print`, `dump`, the description
/// of a struct or an error that holds it) it shows as `‹secret›`. It can be neither encoded nor
/// compared.
///
/// The value is not wiped when it goes away; keys that have to be belong into types of their own.
public struct Confidential<Value: Sendable>: Sendable {
    private let value: Value

    public init(_ value: Value) {
        self.value = value
    }

    /// The one way to the value. What is done with it there is for the reader of that line to judge.
    public func reveal() -> Value { value }
}

extension Confidential: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "‹secret›" }
    public var debugDescription: String { description }
}

extension Confidential: CustomReflectable {
    /// Without children: a mirror is what `dump` and the descriptions of other types look into.
    public var customMirror: Mirror {
        Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .struct)
    }
}

extension DefaultStringInterpolation {
    /// What a secret would show in a text is never what was meant. Deprecated rather than
    /// unavailable, because the compiler passes over what is unavailable and takes the general
    /// interpolation; and a warning is an error here.
    @available(*, deprecated, message: "A secret has no text; reveal it where it is needed.")
    public mutating func appendInterpolation<Value>(_ secret: Confidential<Value>) {
        appendLiteral(secret.description)
    }
}
