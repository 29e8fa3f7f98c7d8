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

    static func < (one: Folded, other: Folded) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
