/// Base32 as people paste it: case does not matter, whatever is not of the alphabet is skipped, and
/// bits that make no whole byte are dropped.
enum Base32 {
    static func secret(of text: String) -> Secret {
        let digits = text.utf8.compactMap(value)
        return Secret(count: digits.count * 5 / 8) { out in
            var (bits, bitCount, index) = (0, 0, 0)
            for digit in digits {
                bits = (bits << 5 | digit) & 0xFFF
                bitCount += 5
                guard bitCount >= 8 else { continue }
                bitCount -= 8
                out[index] = UInt8(truncatingIfNeeded: bits >> bitCount)
                index += 1
            }
        }
    }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character - UInt8(ascii: "A"))
        case UInt8(ascii: "2")...UInt8(ascii: "7"): Int(character - UInt8(ascii: "2")) + 26
        default: nil
        }
    }
}
