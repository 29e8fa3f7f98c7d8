public import Crypto
import JSON

extension Item {
    /// Whether both say the same, wherever they are kept: folder, favourite, archive, trash, files and
    /// stamps do not count. What cannot be read is the same as nothing.
    func isSameContent(as other: Item) -> Bool {
        guard flaws.isEmpty, other.flaws.isEmpty else { return false }
        return contents.withoutPlace.isSame(as: other.contents.withoutPlace)
    }

    /// Whether this is a backup copy of the other, made when that was of this moment.
    public func isBackup(of other: Item, at moment: Moment) -> Bool {
        name == BackupName.of(other.name ?? "", at: moment) && isSameButName(as: other)
    }

    /// Whether this is a backup copy of the other, whenever it was made.
    public func isBackup(of other: Item) -> Bool {
        stemOfSource == other.stemOfBackups && isSameButName(as: other)
    }

    /// Whether this is a backup copy of the other, or of what others have made of that, and has its password.
    func keepsPassword(of other: Item) -> Bool {
        flaws.isEmpty && stemOfSource == other.stemOfBackups && !losesPassword(of: other)
    }

    private func isSameButName(as other: Item) -> Bool {
        guard flaws.isEmpty, other.flaws.isEmpty else { return false }
        return contents.withoutPlaceAndName.isSame(as: other.contents.withoutPlaceAndName)
    }

    /// What the backup copies of this are called, up to their stamp.
    public var stemOfBackups: String { BackupName.stem(name ?? "") }

    /// The same of the source of this; nil if this is no backup copy.
    public var stemOfSource: String? { name.flatMap { BackupName.stem(ofCopy: $0) } }

    /// Whether pushing this over the other would lose a password: it is neither the present one here
    /// nor in the history.
    func losesPassword(of other: Item) -> Bool {
        guard let password = other.contents.secret, !password.isEmpty else { return false }
        let kept = [contents.secret] + contents["passwordHistory"].list.map { $0["password"].text }
        return !kept.contains { $0?.utf8.elementsEqual(password.utf8) ?? false }
    }
}

extension Contents {
    fileprivate var secret: String? { self["login"].object?["password"].text }

    fileprivate var withoutPlace: Contents {
        var contents = self
        for name in Self.place { contents[name] = .none }
        return contents
    }

    fileprivate var withoutPlaceAndName: Contents {
        var contents = withoutPlace
        contents["name"] = .none
        return contents
    }

    private static let place = [
        "id", "organizationId", "folderId", "favorite", "collectionIds", "attachments",
        "revisionDate", "creationDate", "deletedDate", "archivedDate",
    ]
}

extension Cipher {
    /// The same content where the other copy is kept, as far as the user did not choose another place:
    /// what this has as the base had it follows what upstream made of it since.
    ///
    /// Nothing sealed is touched.
    public func placed(like copy: Cipher, since base: Cipher) -> Cipher {
        guard
            folderID != copy.folderID || isFavorite != copy.isFavorite
                || isArchived != copy.isArchived
        else { return self }
        var edit = JSON.Edit(document)
        if folderID == base.folderID, copy.folderID != folderID {
            edit.put(JSON.Raw(copy.folderID), at: "folderId")
        }
        if isFavorite == base.isFavorite, copy.isFavorite != isFavorite {
            edit.put(JSON.Raw(copy.isFavorite), at: "favorite")
        }
        if isArchived == base.isArchived, copy.isArchived != isArchived {
            edit.put(JSON.Raw(copy.archivedDate), at: "archivedDate")
        }
        return Cipher(edit)
    }

    /// The same in no folder.
    public var withoutFolder: Cipher { inFolder(nil) }

    public func inFolder(_ id: String?) -> Cipher {
        var edit = JSON.Edit(document)
        edit.put(JSON.Raw(id), at: "folderId")
        return Cipher(edit)
    }

    /// The same as it is once it was put into the trash, as far as that can be said without asking.
    public func trashed(at moment: Moment) -> Cipher {
        var edit = JSON.Edit(document)
        edit.put(JSON.Raw(DateText.stamp(moment)), at: "deletedDate")
        return Cipher(edit)
    }
}

extension Cipher {
    /// Whether the other's password is nowhere in this: it is neither the present one nor in the history, as it is
    /// with whoever has seen it. How long that is tells nothing.
    ///
    /// - Returns: Nil if nobody can tell, because there are no keys, or because they do not open it.
    public func losesPassword(of other: Cipher, in keys: KeyRing?) -> Bool? {
        guard let password = other.password, password != self.password else { return false }
        guard let keys else { return nil }
        let (item, former) = (Item(self, keys: keys), Item(other, keys: keys))
        guard former.contents.secret != nil else { return nil }
        guard item.losesPassword(of: former) else { return false }
        return item.flaws.isEmpty ? true : nil
    }

    /// Whether the other's password is in the history, as far as that shows without keys: it is longer by it. A full
    /// one is as long as it was, and has what came last before that.
    public func seemsToHaveSeen(_ other: Cipher) -> Bool {
        let (entries, former) = (historyDates, other.historyDates)
        if entries.count > former.count { return true }
        let dates = former.compactMap(\.self)
        guard hasFullHistory, let last = dates.max(by: { $0.moment < $1.moment }) else {
            return false
        }
        return entries.contains { $0?.isSame(as: last) == true }
    }

    /// Whether the history is full of what came after the other, so that its password may have left it in due course:
    /// what was older has left it, too.
    public func hasOutgrown(_ other: Cipher) -> Bool {
        let former = other.historyDates
        let dates = former.compactMap(\.self)
        guard hasFullHistory, dates.count == former.count else { return false }
        return !historyDates.contains { date in
            dates.contains { date?.isSame(as: $0) == true }
        }
    }

    private var hasFullHistory: Bool { historyDates.count >= PasswordHistory.limit }

    /// When each of the passwords before was used last.
    private var historyDates: [Revision?] {
        let entries = self["passwordHistory"]?.array.map { Array($0) } ?? []
        return entries.map { $0["lastUsedDate"]?.string.flatMap(Revision.init) }
    }

    /// Whether this is a backup copy that has the other's password.
    public func keepsPassword(of other: Cipher, in keys: KeyRing) -> Bool {
        Item(self, keys: keys).keepsPassword(of: Item(other, keys: keys))
    }

    /// As it is sealed.
    var password: String? {
        self["login"]?[anyCase: "password"].flatMap { $0.saysNothing ? nil : $0.string }
    }
}
