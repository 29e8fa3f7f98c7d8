public import FoundationEssentials

/// What may stand in a field of a log line.
///
/// A type that holds something secret does not conform, and so cannot be logged: the compiler
/// refuses the line. Conform types of the product one by one and with that in mind; an enumeration
/// with raw values needs no more than the name of the protocol.
public protocol LogField: Sendable {
    var logValue: LogValue { get }
}

/// A field as it is written.
public enum LogValue: Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case unsigned(UInt64)
    case decimal(Double)
    case boolean(Bool)
    case nothing
}

extension String: LogField {
    public var logValue: LogValue { .text(self) }
}

extension Substring: LogField {
    public var logValue: LogValue { .text(String(self)) }
}

extension Bool: LogField {
    public var logValue: LogValue { .boolean(self) }
}

extension Double: LogField {
    public var logValue: LogValue { .decimal(self) }
}

extension LogField where Self: BinaryInteger {
    public var logValue: LogValue {
        if let number = Int64(exactly: self) { return .integer(number) }
        return UInt64(exactly: self).map(LogValue.unsigned) ?? .text(String(self))
    }
}

extension Int: LogField {}
extension Int32: LogField {}
extension Int64: LogField {}
extension UInt16: LogField {}
extension UInt32: LogField {}
extension UInt64: LogField {}

extension Duration: LogField {
    /// Seconds.
    public var logValue: LogValue { .decimal(self / .seconds(1)) }
}

extension Date: LogField {
    public var logValue: LogValue { .text(String(decoding: Timestamp(self).bytes, as: UTF8.self)) }
}

extension UUID: LogField {
    public var logValue: LogValue { .text(uuidString.lowercased()) }
}

extension LogLevel: LogField {}

extension Optional: LogField where Wrapped: LogField {
    public var logValue: LogValue { self?.logValue ?? .nothing }
}

extension LogField where Self: RawRepresentable, RawValue: LogField {
    public var logValue: LogValue { rawValue.logValue }
}

/// The fields of a line, in the order in which they are written.
///
/// Names are fixed in the program. One that the line needs itself (`time`, `level`, `message`,
/// `truncated`) gets an underscore behind it.
public struct LogFields: Sendable, ExpressibleByDictionaryLiteral {
    var pairs: [(name: StaticString, value: any LogField)]

    public init(dictionaryLiteral elements: (StaticString, any LogField)...) {
        pairs = elements.map { (name: $0.0, value: $0.1) }
    }
}
