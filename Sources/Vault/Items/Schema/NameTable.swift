/// Finds a name among a few dozen that are known beforehand.
///
/// Names are told apart by length and by two letters, which in the schema leaves hardly two alike: a
/// hash that no sender can foresee costs more than all the rest of the look-up, and here a sender
/// gains nothing by one that he can.
struct NameTable: Sendable {
    private let names: [String]
    /// For each slot the place of its name, or -1; who finds the slot taken goes to the next.
    private let slots: [Int8]

    init(_ names: [String]) {
        precondition(names.count < 128, "The table is meant for a schema.")
        self.names = names
        var count = 64
        while count < names.count * 4 { count *= 2 }
        var slots = [Int8](repeating: -1, count: count)
        for (index, name) in names.enumerated() {
            var slot = Self.hash(name) & (count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = Int8(index)
        }
        self.slots = slots
    }

    func index(of name: String) -> Int? {
        var slot = Self.hash(name) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if names[index] == name { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private static func hash(_ name: String) -> Int {
        let letters = name.utf8
        guard let first = letters.first, let last = letters.last else { return 0 }
        let middle = letters[letters.index(letters.startIndex, offsetBy: letters.count / 2)]
        return letters.count &* 5 &+ Int(first) &* 3 &+ Int(middle) &* 7 &+ Int(last) &* 31
    }
}
