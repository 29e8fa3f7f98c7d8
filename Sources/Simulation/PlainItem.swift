import Crypto
import JSON

/// An item as the oracle reads it: by its own reading of the JSON, with nothing of the product but the
/// cryptography.
struct PlainItem: Hashable, Sendable {
    let id: String
    let revision: String
    var values: [PlainField: String] = [:]
    /// The text behind the name by which a backup copy is known; nil for an item that is none.
    var stamp: String?
    /// Which item it is, or is a copy of; edits leave that alone.
    var origin: String?
    var history: [String] = []
    var historyDates: [String] = []
    var isTrashed = false
    var isArchived = false
    var isFavourite = false
    var folderID: String?
    /// It belongs to an organisation.
    var isShared = false
    /// What could not be opened.
    var flaws: [String] = []
    /// As it lies upstream.
    var sealed: [PlainField: String] = [:]
    var sealedHistory: [String] = []
    var sealedOrigin = ""
    var key: String?

    var isBackup: Bool { stamp != nil }

    /// Where it lies.
    struct Place: Hashable, Sendable {
        let folderID: String?
        let isFavourite: Bool
    }

    var place: Place { Place(folderID: folderID, isFavourite: isFavourite) }

    /// What is said of an item beside its content.
    enum Mark: String, CaseIterable, Hashable, Sendable {
        case favourite, archived, trashed
    }

    func bears(_ mark: Mark) -> Bool {
        switch mark {
        case .favourite: isFavourite
        case .archived: isArchived
        case .trashed: isTrashed
        }
    }

    /// By the second; the digits behind that are not always written.
    func isStampedBefore(_ other: PlainItem) -> Bool {
        revision.prefix(19) < other.revision.prefix(19)
    }

    /// The stamp to the thousandth of a second, as hosts show it.
    var shownStamp: String {
        let parts = revision.dropLast().split(separator: ".")
        let digits = parts.count > 1 ? parts[1].prefix(3) : ""
        return revision.prefix(19) + "." + digits + String(repeating: "0", count: 3 - digits.count)
    }

    /// As long as both are of one day.
    func isStampedWithinTwoSeconds(of revision: String) -> Bool {
        let other = PlainItem(id: id, revision: revision)
        return shownStamp.prefix(10) == other.shownStamp.prefix(10)
            && abs(millisecond - other.millisecond) < 2_000
    }

    /// Of its day.
    private var millisecond: Int {
        let digits = shownStamp.dropFirst(11).split { $0 == ":" || $0 == "." }.compactMap {
            Int($0)
        }
        guard digits.count == 4 else { return 0 }
        return ((digits[0] * 60 + digits[1]) * 60 + digits[2]) * 1_000 + digits[3]
    }

    /// Every text in it that somebody once wrote.
    var words: [String] { PlainField.allCases.compactMap { values[$0] } + history }

    /// Its content, whatever it is called and wherever it lies.
    var content: [String] { PlainField.allCases.map { values[$0] ?? "" } }
}

extension PlainItem {
    /// - Parameter rings: All that the account ever had, the present one last.
    static func read(_ json: JSON.Value, rings: [KeyRing]) -> PlainItem? {
        let readings = rings.reversed().compactMap { PlainItem(json, user: $0.user) }
        guard var item = readings.first, !item.flaws.isEmpty,
            let former = readings.first(where: { $0.flaws.isEmpty })
        else { return readings.first }
        // What belongs to an organisation is under the key that it was given away with.
        if item.isShared { return former }
        item.flaws = [oldKey]
        return item
    }

    static let oldKey = "it is under a key that the account had before"

    init?(_ json: JSON.Value, user: Sealer) {
        guard let id = json["id"]?.string, let revision = json["revisionDate"]?.string else {
            return nil
        }
        self.init(id: id, revision: revision)
        key = json["key"]?.string
        isTrashed = json["deletedDate"]?.string != nil
        isArchived = json["archivedDate"]?.string != nil
        isFavourite = json["favorite"]?.bool ?? false
        folderID = json["folderId"]?.string
        isShared = json["organizationId"]?.string != nil
        guard let sealer = sealer(under: user) else {
            flaws.append("key")
            return
        }
        read("name", json["name"], sealer) { $0.values[.name] = $1 }
        read("notes", json["notes"], sealer) { $0.values[.notes] = $1 }
        read("username", json["login"]?["username"], sealer) { $0.values[.username] = $1 }
        read("password", json["login"]?["password"], sealer) { $0.values[.password] = $1 }
        sealed = [
            .name: json["name"]?.string ?? "", .notes: json["notes"]?.string ?? "",
            .username: json["login"]?["username"]?.string ?? "",
            .password: json["login"]?["password"]?.string ?? "",
        ]
        for field in json["fields"]?.array.map({ Array($0) }) ?? [] {
            sealedOrigin = field["value"]?.string ?? ""
            read("origin", field["value"], sealer) { $0.origin = $1 }
        }
        for entry in json["passwordHistory"]?.array.map({ Array($0) }) ?? [] {
            if let text = entry["password"]?.string { sealedHistory.append(text) }
            if let text = entry["lastUsedDate"]?.string { historyDates.append(text) }
            read("history", entry["password"], sealer) { $0.history.append($1) }
        }
        takeStamp()
    }

    func sealer(under user: Sealer, entropy: any Entropy = NoEntropy()) -> Sealer? {
        guard let key else { return user }
        guard let own = try? user.unwrapKey(key) else { return nil }
        return Sealer(own, entropy: entropy)
    }

    private mutating func read(
        _ name: String,
        _ value: JSON.Value?,
        _ sealer: Sealer,
        _ take: (inout PlainItem, String) -> Void
    ) {
        guard let text = value?.string else { return }
        guard let opened = try? sealer.open(text) else {
            flaws.append(name)
            return
        }
        take(&self, opened)
    }

    /// ` - 2026-11-21 23:00:00` behind the name.
    private mutating func takeStamp() {
        guard let name = values[.name], let mark = name.utf8.firstIndex(of: UInt8(ascii: " "))
        else { return }
        stamp = String(name[mark...])
        values[.name] = String(name[..<mark])
    }
}

/// For what is only opened.
struct NoEntropy: Entropy {
    func next() -> UInt64 { preconditionFailure("Nothing is sealed here.") }
    func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        preconditionFailure("Nothing is sealed here.")
    }
}

extension PlainItem {
    /// The same as a client shows it.
    ///
    /// - Parameter json: As the vault's API answers.
    init?(shown json: JSON.Value) {
        guard let id = json["id"]?.string, let revision = json["revisionDate"]?.string else {
            return nil
        }
        self.init(id: id, revision: revision)
        isTrashed = json["deletedDate"]?.string != nil
        isArchived = json["archivedDate"]?.string != nil
        isFavourite = json["favorite"]?.bool ?? false
        folderID = json["folderId"]?.string
        isShared = json["organizationId"]?.string != nil
        values[.name] = json["name"]?.string
        values[.notes] = json["notes"]?.string
        values[.username] = json["login"]?["username"]?.string
        values[.password] = json["login"]?["password"]?.string
        for field in json["fields"]?.array.map({ Array($0) }) ?? [] {
            origin = field["value"]?.string
        }
        for entry in json["passwordHistory"]?.array.map({ Array($0) }) ?? [] {
            if let text = entry["password"]?.string { history.append(text) }
        }
        takeStamp()
    }
}
