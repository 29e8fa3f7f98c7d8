/// What an item says. No two writings are alike: each has a mark of its own in the notes.
struct Content: Hashable, Sendable {
    var name: String
    var username: String
    var password: String
    /// The mark, by which it is known wherever it turns up.
    var notes: String

    /// Whether the name is this one, or that of a copy which was made to keep this content: the same
    /// with a time behind it, and for a copy of a copy with another.
    func isNamed(_ other: String) -> Naming? {
        if other == name { return .own }
        guard let source = Self.source(ofCopy: other) else { return nil }
        return source == name[...] || source == Self.source(ofCopy: name) ? .copy : nil
    }

    /// The name without the time behind it; nil if there is none.
    private static func source(ofCopy name: String) -> Substring? {
        let suffix = " - " + stampShape
        guard name.utf8.count > suffix.utf8.count else { return nil }
        let isStamped = zip(name.utf8.suffix(suffix.utf8.count), suffix.utf8)
            .allSatisfy { byte, shape in
                shape == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == shape
            }
        return isStamped ? Substring(name.utf8.dropLast(suffix.utf8.count)) : nil
    }

    enum Naming { case own, copy }

    private static let stampShape = "0000-00-00 00:00:00"
}
