public import Crypto
import JSON

/// What an edit makes of a cipher.
public struct Edited: Sendable {
    public let cipher: Cipher
    /// Whether the login's password is another than before.
    public let changesPassword: Bool
}

extension Item {
    /// Replaces the item by what the caller sends, by the rules of the API: name, notes, favourite,
    /// reprompt and folder are overwritten, and cleared where the body has none; fields, history
    /// and what belongs to the type are kept where the body has none, and replaced as a whole where
    /// it has some; collections are added to, if the item is an organisation's; dates are upstream's,
    /// but for that of archiving.
    ///
    /// Only what differs is sealed anew. What the API does not show is kept.
    ///
    /// - Parameter base: The item as upstream has it, where more is pending.
    /// - Throws: ``EditRefusal``; above all, nothing is saved over something that cannot be read.
    public func edited(
        by body: ItemBody,
        over base: Item? = nil,
        at now: Moment,
        keys: KeyRing,
        entropy: any Entropy
    ) throws(EditRefusal) -> Edited {
        if let type = body.type, type != self.type { throw .typeChanged }
        // What belongs to an organisation stays there; what does not is given away by another route.
        if body.organizationID != nil, cipher.organizationID == nil {
            throw .unfit(JSON.Mismatch("cannot be changed by an edit", at: ["organizationId"]))
        }
        let sealer = try mendable { () throws(Flaw) in
            try cipher.sealer(in: keys, entropy: entropy)
        }
        var wanted = wanted(by: body, over: base)
        wanted.dateNewEntries(since: contents, at: now)
        let history = history(of: wanted, at: now)
        wanted["passwordHistory"] = .list(history.entries)
        if var login = wanted["login"].object {
            login["passwordRevisionDate"] = history.revisionDate
            wanted["login"] = .object(login)
        }
        try wanted.check(against: contents)
        let raw = try Merge(sealer: sealer, former: contents).object(
            cipher.document.root,
            from: contents,
            to: wanted
        )
        let edited = try Cipher(merged: raw)
        // What is sealed here can be read, so no flaw is there that was not there before.
        if !flaws.isEmpty, let flaw = Item(edited, keys: keys).flaws.first {
            throw .unreadable(flaw)
        }
        return Edited(cipher: edited, changesPassword: history.countsAsChange)
    }

    private func mendable(_ body: () throws(Flaw) -> Sealer) throws(EditRefusal) -> Sealer {
        if let flaw = flaws.first(where: \.isOfTheWhole) { throw .unreadable(flaw) }
        do throws(Flaw) { return try body() } catch { throw .unreadable(error) }
    }

    private func wanted(by body: ItemBody, over base: Item?) -> Contents {
        let seen = shown
        var wanted = contents
        let given = body.contents
        for name in ["name", "notes", "favorite", "reprompt", "folderId"] {
            wanted[name] = given[name]
        }
        if given["name"].text == Self.unreadableName, contents["name"].text == nil {
            wanted["name"] = .none
        }
        var replaced = ["fields", "passwordHistory", "archivedDate"]
        if let own = type?.member { replaced.append(own) }
        for name in replaced where body.present.contains(name) {
            wanted[name] = given[name]
        }
        if body.isOutOfArchive { wanted["archivedDate"] = .none }
        if body.present.contains("passwordHistory") {
            wanted["passwordHistory"] = .list(history(keptWith: body, over: base))
        }
        wanted.restoreUnseen(from: contents, seenAs: seen)
        // What does not open looks as empty as what is; an edit may not take it away.
        if flaws.isEmpty { wanted.dropVoidEntries() }
        wanted["collectionIds"] = collections(with: body.collectionIDs)
        return wanted
    }

    /// What the caller sends takes the place of what they have seen. Entries that came after their copy stay:
    /// whoever edits the same copy over and over would drop one password after the other without knowing.
    ///
    /// Entries are dated by whoever made them, copies by upstream, so dates alone do not tell which entries the
    /// caller has not seen.
    private func history(keptWith body: ItemBody, over base: Item?) -> [Contents] {
        let given = body.contents["passwordHistory"].list
        guard cipher.showsPasswords, let seen = body.revision else { return given }
        let isOld =
            cipher.revision.map { seen.moment < $0.moment && !seen.isWritten(like: $0) } ?? false
        let sent = EntryIndex(given)
        let agreed = (base?.contents["passwordHistory"].list).map(EntryIndex.init)
        let unseen = contents["passwordHistory"].list.filter { entry in
            guard !sent.contains(entry) else { return false }
            let isLater = entry.lastUsed.map { $0.moment > seen.moment } ?? false
            let isPending = agreed.map { !$0.contains(entry) } ?? false
            return isOld || isLater || isPending
        }
        return PasswordHistory.latest(of: unseen, over: given)
    }

    /// Those that an edit names are added. What belongs to no organisation lies in none, as upstream has it.
    private func collections(with named: [String]) -> Content {
        let old = cipher.collectionIDs
        let new = named.filter { !old.contains($0) }
        guard cipher.organizationID != nil, !new.isEmpty else { return contents["collectionIds"] }
        return .plain(JSON.Raw(old + new))
    }

    private func history(of wanted: Contents, at now: Moment) -> PasswordHistory {
        PasswordHistory(
            from: contents,
            isPasswordReadable: hasReadablePassword,
            to: wanted,
            keeping: wanted["passwordHistory"].list,
            at: now
        )
    }
}

extension Cipher {
    /// A new item of what the caller sends.
    ///
    /// - Parameters:
    ///   - id: The item's name until upstream gives it another.
    ///   - hasOwnKey: Whether the strings are sealed under a key of the item's own; unless told, wherever
    ///     upstream keeps that.
    public init(
        creating body: ItemBody,
        id: String?,
        hasOwnKey: Bool? = nil,
        at now: Moment,
        keys: KeyRing,
        entropy: any Entropy
    ) throws(EditRefusal) {
        guard let type = body.type else { throw .unfit(JSON.Mismatch("is missing", at: ["type"])) }
        guard let owner = keys.owner(organizationID: body.organizationID) else {
            throw .unreadable(Flaw(.noOrganizationKey, at: ["organizationId"]))
        }
        var wanted = body.contents
        for member in Shape.item.members {
            if case .object = member.kind, member.name != type.member {
                wanted[member.name] = .none
            } else if case .object(let shape) = member.kind, wanted[member.name].object == nil {
                wanted[member.name] = .object(Contents(shape))
            }
        }
        let stamp = Content(date: DateText.stamp(now))
        wanted["id"] = id.map { .plain(JSON.Raw($0)) } ?? .none
        (wanted["revisionDate"], wanted["creationDate"]) = (stamp, stamp)
        wanted["deletedDate"] = .none
        if body.organizationID == nil { wanted["collectionIds"] = .none }
        wanted.dropVoidEntries()
        wanted.dateNewEntries(at: now)
        try wanted.check(against: nil)
        let own = try OwnKey(
            hasOwnKey ?? !keys.dropsItemKeys,
            owner: owner,
            entropy: entropy
        )
        let merge = Merge(sealer: own.sealer)
        var parts = try merge.parts(nil, from: Contents(.item), to: wanted)
        parts.append(("key", own.wrapped.map { JSON.Raw($0) } ?? .null))
        try self.init(merged: .object(parts))
    }

    /// A cipher that we wrote.
    fileprivate init(merged raw: JSON.Raw) throws(EditRefusal) {
        do throws(NotACipher) {
            try self.init(raw)
        } catch {
            switch error {
            case .notJSON(let failure): throw .notJSON(failure)
            case .notAnObject: throw .unfit(JSON.Mismatch("must be an object"))
            }
        }
    }
}

extension Contents {
    /// Whether it is something that goes into the history when it is changed.
    func holdsSecret(_ text: String) -> Bool {
        self["login"].object?["password"].text == text
            || self["fields"].list.contains { $0["value"].text == text }
    }

    /// Takes away the elements that a caller sent without their essential text; see ``Shape/isVoid(_:)``.
    fileprivate mutating func dropVoidEntries() {
        for member in shape.shown {
            guard case .list(let shape) = member.kind, let essential = shape.essential,
                self[member.name].list.contains(where: { $0[essential].text == nil })
            else { continue }
            self[member.name] = .list(self[member.name].list.filter { $0[essential].text != nil })
        }
    }

    /// Servers take no old password without a date. One that upstream itself has without a date is left as it is.
    fileprivate mutating func dateNewEntries(since old: Contents? = nil, at now: Moment) {
        let undated = (old?["passwordHistory"].list ?? []).filter {
            $0["lastUsedDate"].text == nil
        }
        let known = Set(undated.map { $0["password"].text ?? "" })
        var history = self["passwordHistory"].list
        for (place, entry) in history.enumerated()
        where entry["lastUsedDate"].text == nil && !known.contains(entry["password"].text ?? "") {
            history[place]["lastUsedDate"] = Content(date: DateText.stamp(now))
        }
        if !history.isEmpty { self["passwordHistory"] = .list(history) }
    }

    /// What an organisation does not show was not cleared by a caller who sends back what he saw.
    fileprivate mutating func restoreUnseen(from all: Contents, seenAs seen: Contents) {
        let list = Member.Kind.list(.historyEntry)
        if list.isSame(self["passwordHistory"], seen["passwordHistory"]) {
            self["passwordHistory"] = all["passwordHistory"]
        }
        guard var login = self["login"].object, let before = seen["login"].object,
            let whole = all["login"].object
        else { return }
        for name in ["password", "totp"] {
            let kind = Member.Kind.sealed(limit: 0)
            if kind.isSame(login[name], before[name]) { login[name] = whole[name] }
        }
        self["login"] = .object(login)
    }

    /// What upstream would refuse, or damage.
    fileprivate func check(against old: Contents?) throws(EditRefusal) {
        let kind = Member.Kind.sealed(limit: 0)
        let isSame = old.map { kind.isSame(self["name"], $0["name"]) } ?? false
        if (self["name"].text ?? "").isEmpty, !isSame {
            throw .unfit(JSON.Mismatch("must not be empty", at: ["name"]))
        }
        guard let key = self["sshKey"].object else { return }
        for member in Shape.sshKey.members
        where (key[member.name].text ?? "").allSatisfy(\.isWhitespace) {
            throw .unfit(JSON.Mismatch("must not be empty", at: ["sshKey", .member(member.name)]))
        }
    }
}

extension Flaw {
    /// Whether nothing of the item could be opened, so that no edit can mend it.
    public var isOfTheWhole: Bool {
        switch reason {
        case .noOrganizationKey, .key, .unknownType, .blob: true
        case .sealed, .shape: path == ["key"]
        }
    }
}
