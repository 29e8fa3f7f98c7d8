extension UInt8 {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let minus = UInt8(ascii: "-")
    static let zero = UInt8(ascii: "0")

    var isSpace: Bool {
        self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09
    }

    var isSign: Bool { self == .minus || self == UInt8(ascii: "+") }

    var isDigit: Bool { self &- .zero < 10 }

    var hexDigit: UInt32? {
        switch self {
        case 0x30...0x39: UInt32(self) - 0x30
        case 0x41...0x46: UInt32(self) - 0x41 + 10
        case 0x61...0x66: UInt32(self) - 0x61 + 10
        default: nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The byte at the offset, checked in release too: the text is whatever somebody sent.
    @inline(__always)
    subscript(checked offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count, "An offset leads out of the text.")
        return self[offset]
    }
}
