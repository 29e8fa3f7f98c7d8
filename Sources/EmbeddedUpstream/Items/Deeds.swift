import Bitwarden

/// What can be done to an item besides writing it.
extension World {
    mutating func trash(_ id: String, _ call: borrowing Call) throws(Refusal) -> StoredCipher? {
        var cipher = try find(id, for: call.userID, to: .trash)
        if cipher.deleted != nil, !personality.restampsTrash { return nil }
        let now = stamp(call)
        cipher.deleted = now
        cipher.revised = personality.restampsTrash ? stamp(call) : now
        if !personality.restampsTrash { place(id, of: call.userID) { $0.archived = nil } }
        put(cipher, of: call.userID)
        return cipher
    }

    mutating func restore(_ id: String, _ call: borrowing Call) throws(Refusal) -> StoredCipher? {
        var cipher = try find(id, for: call.userID, to: .restore)
        if cipher.deleted == nil, !personality.restampsTrash { return nil }
        cipher.deleted = nil
        cipher.revised = stamp(call)
        put(cipher, of: call.userID)
        return cipher
    }

    mutating func destroy(_ id: String, _ call: borrowing Call) throws(Refusal) -> StoredCipher {
        let cipher = try find(id, for: call.userID, to: .delete)
        // Told before it is gone, for afterwards nobody knows whom it concerns.
        tell(.cipherDeleted, cipher, call)
        remove(cipher, of: call.userID)
        return cipher
    }

    mutating func archive(
        _ id: String,
        _ isArchived: Bool,
        _ call: borrowing Call
    ) throws(Refusal) -> StoredCipher {
        let refusal: Refusal = isArchived ? .notArchived : .notUnarchived
        var cipher = try find(
            id,
            for: call.userID,
            or: personality.refusesSecondArchiving ? refusal : .missingCipher
        ).cipher
        let isAlready = (placement(id, of: call.userID).archived != nil) == isArchived
        if isAlready, personality.refusesSecondArchiving { throw refusal }
        let now = stamp(call)
        place(id, of: call.userID) { $0.archived = isArchived ? now : nil }
        if personality.archivingRevises {
            cipher.revised = now
            put(cipher, of: call.userID)
        }
        return cipher
    }

    /// Does something to each of many items. One of the servers passes over what it may not do; the
    /// other stops there, keeps what it has done, and tells nobody: only the account's revision does.
    ///
    /// - Parameter isOfAll: Whether it concerns everybody who shares an item, and not the user alone.
    mutating func forEach(
        _ ids: [String],
        _ call: borrowing Call,
        isOfAll: Bool = false,
        _ deed: (inout World, String) throws(Refusal) -> StoredCipher?
    ) throws(Refusal) -> [StoredCipher] {
        var done: [StoredCipher] = []
        for id in ids {
            do throws(Refusal) {
                guard let cipher = try deed(&self, id.lowercased()) else { continue }
                done.append(cipher)
                guard isOfAll, cipher.organizationID != nil else { continue }
                for user in audience(of: cipher, call.userID) { touch(user, call) }
            } catch {
                if personality.bulkSkips { continue }
                if !done.isEmpty { touch(call.userID, call) }
                throw error
            }
        }
        return done
    }

    mutating func move(
        _ ids: [String],
        to folderID: String?,
        _ call: Call
    ) throws(Refusal) {
        try checkFolder(folderID, call)
        _ = try forEach(ids, call) { world, id throws(Refusal) in
            let cipher = try world.find(id, for: call.userID).cipher
            world.place(id, of: call.userID) { $0.folderID = folderID }
            return cipher
        }
    }
}
