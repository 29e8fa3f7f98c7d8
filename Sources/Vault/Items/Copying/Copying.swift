public import Crypto
import JSON

extension Cipher {
    /// The same under another id; every other byte stays.
    public func withID(_ id: String) -> Cipher {
        var edit = JSON.Edit(document)
        edit.put(JSON.Raw(id), at: "id")
        return Cipher(edit)
    }

    /// Where it does not say itself in which collections it is, it is in these: not all servers repeat
    /// that in an answer to a write.
    public func inCollections(_ collectionIDs: [String]) -> Cipher {
        self["collectionIds"]?.array == nil ? stillInCollections(collectionIDs) : self
    }

    /// It is in these collections still, whatever it says itself: of an item that was changed, one of the servers names
    /// only those in which its reader may change something.
    public func stillInCollections(_ collectionIDs: [String]) -> Cipher {
        guard !collectionIDs.isEmpty, self.collectionIDs != collectionIDs else { return self }
        var edit = JSON.Edit(document)
        edit.put(JSON.Raw(collectionIDs), at: "collectionIds")
        return Cipher(edit)
    }

    /// A copy to be posted as a new item of the user's own, so that what this cipher holds is not
    /// lost.
    ///
    /// Its name ends in the time of the copy that gives way. It has no id, no organisation, no files
    /// and is in no trash; its strings, passkeys and all, are under a fresh key, or under the user's where upstream
    /// keeps no others. Everything else is as it was, the history in its order.
    ///
    /// - Throws: ``Flaw`` if anything cannot be opened: half a copy is none.
    public func backup(
        at moment: Moment,
        keys: KeyRing,
        entropy: any Entropy
    ) throws(Flaw) -> Cipher {
        if let flaw = Item(self, keys: keys).flaws.first { throw flaw }
        let from = try sealer(in: keys)
        let (to, wrapped) = try copyKey(keys, entropy)
        var parts = try Reseal(from: from, to: to, uses: .copied).object(document.root, .item)
        let name = try self["name"].map { value throws(Flaw) in try from.name(value) }
        let renamed = try to.sealName(BackupName.of(name ?? "", at: moment))
        parts.put(renamed, at: "name")
        parts.put(JSON.Raw(wrapped), at: "key")
        parts.put(.null, at: "organizationId")
        parts.put(JSON.Raw([String]()), at: "collectionIds")
        return Cipher(parts)
    }

    private func copyKey(
        _ keys: KeyRing,
        _ entropy: any Entropy
    ) throws(Flaw) -> (sealer: Sealer, wrapped: String?) {
        if keys.dropsItemKeys { return (keys.user, nil) }
        let key = SymmetricKey(from: entropy)
        let wrapped = try wrap(key, with: keys.user)
        return (Sealer(key, entropy: entropy), wrapped)
    }

    /// The same content under the key that another version of the cipher has, files included.
    ///
    /// Whoever sends a cipher with another item key than upstream's leaves upstream's files behind,
    /// wrapped in a key that is gone. So a version that was sealed under an older key is brought
    /// under the present one first.
    public func resealed(like other: Cipher, keys: KeyRing, entropy: any Entropy) throws(Flaw)
        -> Cipher
    {
        if key == other.key, organizationID == other.organizationID { return self }
        let from = try sealer(in: keys)
        let to = try other.sealer(in: keys, entropy: entropy)
        if key != nil, from.keyID == to.keyID { return wearing(other) }
        var reseal = Reseal(from: from, to: to)
        reseal.addsChecksums = other.key != nil
        var parts = try reseal.object(withoutFiles.document.root, .item)
        parts.put(other["key"]?.raw ?? .null, at: "key")
        parts.put(other["organizationId"]?.raw ?? .null, at: "organizationId")
        parts.put(other["attachments"]?.raw ?? .null, at: "attachments")
        return Cipher(parts)
    }

    /// The same with the files that the other version has: nobody edits those with the rest. Under
    /// another key they would not open.
    public func withFiles(of other: Cipher) -> Cipher {
        guard key == other.key, organizationID == other.organizationID,
            attachmentIDs != other.attachmentIDs
        else { return self }
        var edit = JSON.Edit(document)
        edit.put(other["attachments"]?.raw ?? .null, at: "attachments")
        return Cipher(edit)
    }

    /// The same after one of its files was deleted.
    public func withoutFile(_ id: String) -> Cipher {
        guard let files = self["attachments"]?.array, attachmentIDs.contains(id) else {
            return self
        }
        let left = files.filter { $0[anyCase: "id"]?.string != id }.map(\.raw)
        var edit = JSON.Edit(document)
        edit.put(JSON.Raw(left), at: "attachments")
        return Cipher(edit)
    }

    /// The same key, which somebody else has wrapped: what is sealed with it stays as it is.
    private func wearing(_ other: Cipher) -> Cipher {
        var edit = JSON.Edit(withoutFiles.document)
        for member in ["key", "organizationId", "attachments"] {
            edit.put(other[member]?.raw ?? .null, at: member)
        }
        return Cipher(edit)
    }

    /// The same after the account's key, or the organisation's, was changed.
    ///
    /// An item with a key of its own only has that wrapped anew; its strings keep their bytes.
    public func resealed(from old: KeyRing, to new: KeyRing) throws(Flaw) -> Cipher {
        let (from, to) = (try owner(in: old), try owner(in: new))
        guard let key else {
            let parts = try Reseal(from: from, to: to, addsChecksums: false)
                .object(document.root, .item)
            return Cipher(parts)
        }
        var edit = JSON.Edit(document)
        do throws(CryptoError) {
            edit.put(JSON.Raw(try to.wrap(from.unwrapKey(key))), at: "key")
        } catch {
            throw Flaw(.key(error), at: ["key"])
        }
        return Cipher(edit)
    }

    /// The same as an item of an organisation, files included: under the organisation's key, or with
    /// its own key wrapped by that.
    public func shared(
        with organizationID: String,
        keys: KeyRing
    ) throws(Flaw) -> Cipher {
        guard let organization = keys.owner(organizationID: organizationID) else {
            throw Flaw(.noOrganizationKey, at: ["organizationId"])
        }
        var edit: JSON.Edit
        if let key {
            edit = JSON.Edit(document)
            do throws(CryptoError) {
                let owner = try keys.user.unwrapKey(key)
                edit.put(JSON.Raw(try organization.wrap(owner)), at: "key")
            } catch {
                throw Flaw(.key(error), at: ["key"])
            }
        } else {
            let reseal = Reseal(from: keys.user, to: organization)
            edit = JSON.Edit(Cipher(try reseal.object(document.root, .item)).document)
        }
        edit.put(JSON.Raw(organizationID), at: "organizationId")
        return Cipher(edit)
    }

    private var withoutFiles: Cipher {
        var edit = JSON.Edit(document)
        edit.remove(["attachments"])
        edit.remove(["Attachments"])
        edit.put(.null, at: "key")
        return Cipher(edit)
    }

    private func wrap(_ key: borrowing SymmetricKey, with owner: Sealer) throws(Flaw) -> String {
        do throws(CryptoError) {
            return try owner.wrap(key)
        } catch {
            throw Flaw(.key(error), at: ["key"])
        }
    }

    init(_ edit: JSON.Edit) { self.init(written: edit.raw) }
    init(_ parts: Merge.Parts) { self.init(written: .object(parts)) }

    private init(written raw: JSON.Raw) {
        do {
            try self.init(raw)
        } catch {
            preconditionFailure("A cipher that was changed is still an object.")
        }
    }
}

extension Sealer {
    fileprivate func name(_ value: JSON.Value) throws(Flaw) -> String {
        guard !value.saysNothing else { return "" }
        do throws(CryptoError) { return try open(value) } catch {
            throw Flaw(.sealed(error), at: ["name"])
        }
    }

    fileprivate func sealName(_ name: String) throws(Flaw) -> JSON.Raw {
        do throws(CryptoError) { return JSON.Raw(try seal(name)) } catch {
            throw Flaw(.sealed(error), at: ["name"])
        }
    }
}
