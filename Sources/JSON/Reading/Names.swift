extension JSON {
    /// Names that a reader knows. Which of them a member has is found by one look, however many
    /// there are, and without making a string.
    ///
    /// ```swift
    /// private enum Field: String, CaseIterable { case id, name, revisionDate }
    /// private static let fields = JSON.Names(Field.allCases, named: \.rawValue)
    /// …
    /// try members.forEach(inAnyCase: Self.fields) { (field, value) throws(JSON.Mismatch) in
    ///     switch field {
    ///     case .id: id = try String(json: value)
    ///     …
    ///     }
    /// }
    /// ```
    public struct Names<Key: Sendable>: Sendable {
        @usableFromInline let table: NameTable
        @usableFromInline let keys: [Key]

        /// Of two that are called the same, the first is meant.
        public init(_ keys: [Key], named name: (Key) -> String) {
            self.keys = keys
            table = NameTable(keys.map { Array(name($0).utf8) })
        }

        /// Whose name it is, spelled exactly so.
        @inlinable
        public subscript(name: Name) -> Key? {
            let index = table.index(of: name, .exact)
            return index < 0 ? nil : keys[index]
        }

        /// Whose name it is, its first letter in either case; exactly so, if there is such a name.
        @inlinable
        public subscript(anyCase name: Name) -> Key? {
            let index = table.index(of: name, .anyCase)
            return index < 0 ? nil : keys[index]
        }
    }
}

/// A hash table of names. Made once, of what the program says; asked with what somebody sent.
@usableFromInline
struct NameTable: Sendable {
    /// All names, one behind the other, and where each begins.
    private let spelling: [UInt8]
    private let starts: [Int]
    /// The number of a name, or -1; at least as many are free as are taken.
    private let slots: [Int]

    init(_ names: [[UInt8]]) {
        spelling = names.flatMap(\.self)
        starts = names.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
        var room = 4
        while room < 4 * names.count { room *= 2 }
        var slots = [Int](repeating: -1, count: room)
        for (index, name) in names.enumerated() {
            var slot = name.withUnsafeBufferPointer { Self.hash($0) } & (room - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (room - 1) }
            slots[slot] = index
        }
        self.slots = slots
    }

    /// - Returns: -1, if it is none of them.
    @usableFromInline
    func index(of name: JSON.Name, _ letters: Letters) -> Int {
        name.withBytes { index(of: $0, letters) }
    }

    @inline(__always)
    func index(of bytes: UnsafeBufferPointer<UInt8>, _ letters: Letters) -> Int {
        let exact = look(up: bytes, .exact)
        return exact < 0 && letters == .anyCase ? look(up: bytes, .anyCase) : exact
    }

    private func look(up bytes: UnsafeBufferPointer<UInt8>, _ letters: Letters) -> Int {
        var slot = Self.hash(bytes) & (slots.count - 1)
        while true {
            let index = slots[slot]
            guard index >= 0 else { return -1 }
            if agrees(index, bytes, letters) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
    }

    @inline(__always)
    private func agrees(
        _ index: Int,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ letters: Letters
    ) -> Bool {
        let (start, end) = (starts[index], starts[index + 1])
        guard end - start == bytes.count else { return false }
        return spelling.withUnsafeBufferPointer {
            letters.agree(UnsafeBufferPointer(rebasing: $0[start..<end]), bytes)
        }
    }

    /// The same for both cases of the first letter. Whoever sends names that collide is slow with each
    /// of them by as much as a list is.
    @inline(__always)
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        // Of one letter, all three are the first, whose case does not count.
        let fold: UInt8 = bytes.count == 1 ? 0x20 : 0
        let last = bytes[bytes.count - 1] | fold
        let middle = bytes[bytes.count / 2] | fold
        let mixed =
            UInt32(first | 0x20) &* 0x9E37_79B1 ^ UInt32(last) &* 0x85EB_CA6B
            ^ UInt32(middle) &* 0xC2B2_AE35 ^ UInt32(truncatingIfNeeded: bytes.count) &* 0x27D4_EB2F
        return Int(mixed >> 16)
    }
}
