import Crypto

/// What a backup copy is called: the name of its source and the time of the copy that gives way.
enum BackupName {
    static func of(_ name: String, at moment: Moment) -> String {
        stem(name) + " - " + DateText.readable(moment)
    }

    /// What every copy of the source is called, up to the stamp. One that is there already is replaced,
    /// and a name that would be too long to be encrypted is cut, between what a reader takes for
    /// characters.
    static func stem(_ name: String) -> String {
        cut(withoutStamp(name), to: Sealer.byteCount(fitting: 1000) - pattern.utf8.count)
    }

    /// The stem of what may be a copy; nil if it has no stamp.
    static func stem(ofCopy name: String) -> String? {
        let stem = withoutStamp(name)
        return stem == name ? nil : stem
    }

    private static func withoutStamp(_ name: String) -> String {
        let suffix = name.utf8.suffix(pattern.utf8.count)
        guard suffix.count == pattern.utf8.count else { return name }
        let isStamp = zip(suffix, pattern.utf8).allSatisfy { byte, sign in
            sign == UInt8(ascii: "0")
                ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == sign
        }
        return isStamp ? String(decoding: name.utf8.dropLast(suffix.count), as: UTF8.self) : name
    }

    private static let pattern = " - 0000-00-00 00:00:00"

    private static func cut(_ name: String, to most: Int) -> String {
        var left = most
        let kept = name.prefix { character in
            left -= character.utf8.count
            return left >= 0
        }
        return String(kept)
    }
}
