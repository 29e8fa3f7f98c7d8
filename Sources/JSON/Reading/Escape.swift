/// One escape in a string, as both the check and the reading of strings see it.
struct Escape {
    let scalar: Unicode.Scalar
    /// How many bytes it takes, the backslash included.
    let length: Int

    /// - Parameters:
    ///   - start: Where the backslash stands.
    ///   - end: Where the string's closing quotation mark stands.
    /// - Returns: Nothing if it is none, or half a surrogate pair.
    init?(in text: UnsafeBufferPointer<UInt8>, at start: Int, before end: Int) {
        guard start + 1 < end else { return nil }
        if let short = Self.short(text[checked: start + 1]) {
            (scalar, length) = (Unicode.Scalar(short), 2)
            return
        }
        guard let unit = Self.unit(in: text, at: start, before: end) else { return nil }
        if let plain = Unicode.Scalar(unit) {
            (scalar, length) = (plain, 6)
            return
        }
        guard unit < 0xDC00,
            let other = Self.unit(in: text, at: start + 6, before: end),
            0xDC00...0xDFFF ~= other,
            let pair = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (other - 0xDC00))
        else { return nil }
        (scalar, length) = (pair, 12)
    }

    private static func short(_ letter: UInt8) -> UInt8? {
        switch letter {
        case .quote, .backslash, UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The number of a `\uXXXX`.
    private static func unit(
        in text: UnsafeBufferPointer<UInt8>,
        at start: Int,
        before end: Int
    ) -> UInt32? {
        guard start + 6 <= end,
            text[checked: start] == .backslash,
            text[checked: start + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for offset in start + 2..<start + 6 {
            guard let digit = text[checked: offset].hexDigit else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }
}
