import Crypto
import JSON

/// What an edit adds to the history of an item's passwords.
///
/// It is worked out once, when the edit is made and against the item that the user saw; whatever
/// happens to the item later carries the list along as it is.
struct PasswordHistory {
    /// The newest first.
    private(set) var entries: [Contents]
    /// Whether the login's password is another, which is what is counted.
    private(set) var countsAsChange = false
    /// The stamp of the login's last change.
    private(set) var revisionDate: Content

    /// As official clients keep them.
    static let limit = 5

    /// - Parameters:
    ///   - old: The item before.
    ///   - isPasswordReadable: Whether its password could be read; if not, it counts as changed and
    ///     leaves no entry.
    ///   - entries: The list that the edit leaves, without what is to be added now.
    init(
        from old: Contents,
        isPasswordReadable: Bool,
        to new: Contents,
        keeping entries: [Contents],
        at now: Moment
    ) {
        self.entries = entries
        let stamp = DateText.stamp(now)
        revisionDate = old["login"].object?["passwordRevisionDate"] ?? .none
        var added: [Contents] = []
        let (password, next) = (old.password, new.password)
        let isSame = Self.isSame(password, next)
        countsAsChange = !isPasswordReadable || !isSame
        if countsAsChange, !isPasswordReadable || password.text?.isEmpty == false {
            revisionDate = Content(date: stamp)
        }
        if let text = password.text, !text.isEmpty, !isSame {
            added.append(Self.entry(text, stamp))
        }
        // The password comes before any number of fields.
        let room = Self.limit - added.count
        for text in Self.lostSecrets(from: old["fields"].list, to: new["fields"].list).suffix(room)
        {
            added.insert(Self.entry(text, stamp), at: 0)
        }
        if !added.isEmpty { add(added) }
    }

    /// Both, or what stays of them where there is no room for all. A list that gets nothing new stays as long
    /// as it is.
    static func latest(of unseen: [Contents], over given: [Contents]) -> [Contents] {
        unseen.isEmpty ? given : newest(limit, of: unseen + given)
    }

    private mutating func add(_ added: [Contents]) {
        let kept = Self.newest(max(0, Self.limit - added.count), of: entries)
        entries = Array((added + kept).prefix(Self.limit))
    }

    /// Drops the oldest by date, wherever in the list other clients put them, and of those equally old
    /// the ones furthest from the front.
    private static func newest(_ count: Int, of entries: [Contents]) -> [Contents] {
        guard entries.count > count else { return entries }
        let moments = entries.map { $0.lastUsed?.moment.ticks ?? .min }
        let newest = entries.indices.sorted { (moments[$1], $0) < (moments[$0], $1) }
        return newest.prefix(count).sorted().map { entries[$0] }
    }

    /// `name: value` of every hidden field whose value is gone.
    private static func lostSecrets(from old: [Contents], to new: [Contents]) -> [String] {
        let left = Set(new.filter(isHidden).map(fingerprint))
        return old.compactMap { field in
            guard isHidden(field), let name = field["name"].text, !name.isEmpty,
                let value = field["value"].text, !value.isEmpty, !left.contains(fingerprint(field))
            else { return nil }
            return entry(name, value)
        }
    }

    /// Upstream takes less text here than name and value may have together. The value is what nobody has otherwise.
    private static func entry(_ name: String, _ value: String) -> String {
        let room = Sealer.byteCount(fitting: Shape.longestHistoryEntry) - value.utf8.count - 2
        guard name.utf8.count > room else { return "\(name): \(value)" }
        var start = name[...]
        while start.utf8.count > room, !start.isEmpty { start.removeLast() }
        return start.isEmpty ? value : "\(start): \(value)"
    }

    private static func isHidden(_ field: Contents) -> Bool { field["type"].int == 1 }

    private static func fingerprint(_ field: Contents) -> [[UInt8]] {
        [field["name"], field["value"]].map { Array(($0.text ?? "").utf8) }
    }

    fileprivate static func isSame(_ one: Content, _ other: Content) -> Bool {
        Member.Kind.sealed(limit: 0).isSame(one, other)
    }

    private static func entry(_ password: String, _ stamp: String) -> Contents {
        var entry = Contents(.historyEntry)
        entry["password"] = .text(password)
        entry["lastUsedDate"] = Content(date: stamp)
        return entry
    }
}

extension Contents {
    fileprivate var password: Content { self["login"].object?["password"] ?? .none }
}

extension Item {
    /// Whether the password, or that there is none, is known for certain.
    var hasReadablePassword: Bool {
        !flaws.contains {
            $0.isOfTheWhole || $0.path == ["login"] || $0.path == ["login", "password"]
        }
    }
}
