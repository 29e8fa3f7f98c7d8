@_spi(_Unicode) import Swift

/// A text without its capital letters and accents, to be compared with others.
struct Folded: Hashable {
    private let bytes: [UInt8]

    init(_ text: String) {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else {
            bytes = text.utf8.map(\.asciiLowercased)
            return
        }
        let marks: ClosedRange<UInt32> = 0x300...0x36F
        let plain = String.UnicodeScalarView(
            text.lowercased()._nfd.filter { !marks.contains($0.value) }
        )
        bytes = Array(String(plain).utf8)
    }

    /// What somebody looks for: spaces around it mean nothing.
    init(search text: String) {
        var rest = Substring(text)
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        self.init(String(rest))
    }

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    func contains(_ other: Folded) -> Bool {
        guard let first = other.bytes.first else { return true }
        guard bytes.count >= other.bytes.count else { return false }
        return bytes.withUnsafeBufferPointer { whole in
            (0...(whole.count - other.bytes.count)).contains { start in
                whole[start] == first && whole[start...].starts(with: other.bytes)
            }
        }
    }

    func hasPrefix(_ other: Folded) -> Bool { bytes.starts(with: other.bytes) }

    /// In the order of letters, and what is numbered 2 before what is numbered 10.
    static func < (one: Folded, other: Folded) -> Bool {
        one.bytes.precedesCounting(other.bytes)
    }
}

extension [UInt8] {
    /// Whether it comes first, where digits in a row are one number. What differs in leading zeros alone is told
    /// apart by them.
    fileprivate func precedesCounting(_ other: [UInt8]) -> Bool {
        var (mine, theirs) = (self[...], other[...])
        while let byte = mine.first, let otherByte = theirs.first {
            guard byte.isDigit, otherByte.isDigit else {
                guard byte == otherByte else { return byte < otherByte }
                (mine, theirs) = (mine.dropFirst(), theirs.dropFirst())
                continue
            }
            let (number, otherNumber) = (mine.takeNumber(), theirs.takeNumber())
            guard number.elementsEqual(otherNumber) else {
                return number.count == otherNumber.count
                    ? number.lexicographicallyPrecedes(otherNumber)
                    : number.count < otherNumber.count
            }
        }
        return mine.isEmpty && theirs.isEmpty
            ? lexicographicallyPrecedes(other) : mine.isEmpty
    }
}

extension ArraySlice<UInt8> {
    /// The digits at its beginning, without zeros in front of them.
    fileprivate mutating func takeNumber() -> ArraySlice<UInt8> {
        let digits = prefix(while: \.isDigit)
        self = self[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
