import Glibc

/// Finds a name among a few dozen that are known beforehand.
///
/// Names are told apart by their length and three letters, which in the schema leaves hardly two
/// alike. A hash that no sender can foresee would cost more than the rest of the look-up, and buy
/// nothing: the table never grows, so nobody can fill it.
struct NameTable: Sendable {
    /// The letters of all names, one behind the other.
    private let letters: [UInt8]
    private let ranges: [Range<Int>]
    /// For each slot the place of its name, or -1; who finds the slot taken goes to the next.
    private let slots: [Int8]

    init(_ names: [String]) {
        precondition(names.count < 128, "The table is meant for a schema.")
        var (letters, ranges) = ([UInt8](), [Range<Int>]())
        for name in names {
            letters += name.utf8
            ranges.append(letters.count - name.utf8.count..<letters.count)
        }
        var count = 64
        while count < names.count * 4 { count *= 2 }
        var slots = [Int8](repeating: -1, count: count)
        for (index, name) in names.enumerated() {
            var slot = Array(name.utf8).withUnsafeBufferPointer(Self.hash) & (count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = Int8(index)
        }
        (self.letters, self.ranges, self.slots) = (letters, ranges, slots)
    }

    /// The name's place, its first letter in either case.
    func index(anyCase name: String) -> Int? {
        var name = name
        return name.withUTF8 { index(of: $0) }
    }

    private func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        var slot = Self.hash(name) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if isSame(ranges[index], name) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private func isSame(_ range: Range<Int>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard range.count == name.count, let start = name.baseAddress, let first = name.first,
            letters[range.lowerBound] == Self.lowered(first)
        else { return false }
        return letters.withUnsafeBufferPointer {
            guard let letters = $0.baseAddress else { return false }
            return memcmp(letters + range.lowerBound + 1, start + 1, name.count - 1) == 0
        }
    }

    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        guard let first = name.first else { return 0 }
        let (middle, last) = (name[name.count / 2], name[name.count - 1])
        return name.count &* 5 &+ Int(lowered(first)) &* 3 &+ Int(lowered(middle)) &* 7
            &+ Int(lowered(last)) &* 31
    }

    /// Names of the schema begin with a small letter, so no other byte becomes one of theirs.
    private static func lowered(_ letter: UInt8) -> UInt8 { letter | 0x20 }
}
