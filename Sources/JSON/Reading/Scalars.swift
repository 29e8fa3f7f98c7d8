extension JSON {
    public enum Kind: Sendable {
        case object, array, string, number, bool, null

        @inline(__always)
        init(first byte: UInt8) {
            switch byte {
            case .openBrace: self = .object
            case .openBracket: self = .array
            case .quote: self = .string
            case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .bool
            case UInt8(ascii: "n"): self = .null
            default: self = .number
            }
        }
    }
}

/// What a value that is neither array nor object says.
extension JSON.Raw {
    public var kind: JSON.Kind { JSON.Kind(first: source[extent.start]) }

    /// The string, its escapes resolved.
    public var string: String? {
        guard kind == .string else { return nil }
        return source.withUnsafeBufferPointer { $0.string(at: extent) }
    }

    /// The number, if it is spelled without fraction and exponent and fits.
    public var int: Int? {
        source.withUnsafeBufferPointer { $0.int(at: extent) }
    }

    /// The number nearest to what is spelled, if there is a finite one.
    public var double: Double? {
        guard kind == .number else { return nil }
        guard let double = Double(String(decoding: bytes, as: UTF8.self)) else { return nil }
        return double.isFinite ? double : nil
    }

    public var bool: Bool? {
        switch source[extent.start] {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    public var isNull: Bool { kind == .null }
}

extension JSON.Value {
    public var kind: JSON.Kind { JSON.Kind(first: document.bytes[extent.start]) }

    /// The string, its escapes resolved.
    public var string: String? {
        let extent = self.extent
        return document.bytes.withUnsafeBufferPointer { text in
            text[checked: extent.start] == .quote ? text.string(at: extent) : nil
        }
    }

    /// The number, if it is spelled without fraction and exponent and fits.
    public var int: Int? {
        let extent = self.extent
        return document.bytes.withUnsafeBufferPointer { $0.int(at: extent) }
    }

    /// The number nearest to what is spelled, if there is a finite one.
    public var double: Double? { raw.double }
    public var bool: Bool? { raw.bool }
    public var isNull: Bool { kind == .null }
}

extension UnsafeBufferPointer<UInt8> {
    /// The value at the extent, if it is spelled as a whole number and fits.
    fileprivate func int(at extent: Extent) -> Int? {
        let isNegative = self[checked: extent.start] == .minus
        var number = 0
        for offset in (isNegative ? extent.start + 1 : extent.start)..<extent.end {
            let digit = self[checked: offset] &- .zero
            guard digit < 10 else { return nil }
            let (shifted, isTooLong) = number.multipliedReportingOverflow(by: 10)
            // Downwards, because the least number has no counterpart.
            let (next, isTooLarge) = shifted.subtractingReportingOverflow(Int(digit))
            guard !isTooLong && !isTooLarge else { return nil }
            number = next
        }
        if isNegative { return number }
        return number == .min ? nil : -number
    }
}
