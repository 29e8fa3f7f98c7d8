import Bitwarden
import HTTP
import JSON

extension Routes {
    /// Many items at once.
    mutating func addBulk() {
        on(.put, "/api/ciphers/delete", .trashCiphers) { call, world throws(Refusal) in
            let ids = try world.ids(call, to: .trash)
            _ = try world.forEach(ids, call, isOfAll: true) { world, id throws(Refusal) in
                try world.trash(id, call)
            }
            world.tellOfMany(call)
            return Reply()
        }
        on(.put, "/api/ciphers/restore", .restoreCiphers) { call, world throws(Refusal) in
            let ids = try world.ids(call, to: .restore)
            let done = try world.forEach(ids, call, isOfAll: true) { world, id throws(Refusal) in
                try world.restore(id, call)
            }
            world.tellOfMany(call)
            return world.replyList(done, call, .mini)
        }
        for (method, path) in [(Method.delete, "/api/ciphers"), (.post, "/api/ciphers/delete")] {
            on(method, path, .deleteCiphers) { call, world throws(Refusal) in
                let ids = try world.ids(call, to: .delete)
                _ = try world.forEach(ids, call, isOfAll: true) { world, id throws(Refusal) in
                    let cipher = try world.find(id, for: call.userID, to: .delete)
                    world.remove(cipher, of: call.userID)
                    return cipher
                }
                world.tellOfMany(call)
                return Reply()
            }
        }
        for method in [Method.put, .post] {
            on(method, "/api/ciphers/move", .moveCiphers) { call, world throws(Refusal) in
                let wish: MoveRequest = try call.read()
                try world.checkCount(wish.ids, to: .move)
                try world.move(wish.ids, to: wish.folderID, call)
                world.tellOfMove(wish, call)
                return Reply()
            }
        }
        addImport()
        on(.post, "/api/ciphers/purge", .purge) { call, world throws(Refusal) in
            try world.checkPassword(call)
            for cipher in world.accounts[call.userID]?.ciphers.values.map({ $0 }) ?? [] {
                world.remove(cipher, of: call.userID)
            }
            world.accounts[call.userID]?.folders = [:]
            world.accounts[call.userID]?.placements = [:]
            world.tellOfAll(call)
            return Reply()
        }
    }

    /// All of it or nothing on the one server, item by item on the other; ids are never told.
    private mutating func addImport() {
        on(.post, "/api/ciphers/import", .importCiphers) { call, world throws(Refusal) in
            let json = try call.json()
            let before = (world.accounts[call.userID], world.announcements, world.changes)
            do throws(Refusal) {
                try world.importAll(json, call)
            } catch {
                if world.personality.bulkSkips {
                    (world.accounts[call.userID], world.announcements, world.changes) = before
                } else {
                    world.touch(call.userID, call)
                }
                throw error
            }
            world.tellOfAll(call)
            return Reply()
        }
    }
}

extension World {
    fileprivate mutating func importAll(
        _ json: JSON.Value,
        _ call: borrowing Call
    ) throws(Refusal) {
        guard let ciphers = json[anyCase: "ciphers"]?.array else {
            throw .badShape("ciphers are missing")
        }
        let folders = json[anyCase: "folders"]?.array.map(Array.init) ?? []
        let relations = json[anyCase: "folderRelationships"]?.array.map(Array.init) ?? []
        if let limit = personality.importLimit {
            guard ciphers.count <= limit.items, relations.count <= limit.items,
                folders.count <= limit.folders
            else { throw .importTooLarge }
        }
        var folderIDs: [String] = []
        for folder in folders {
            guard let name = folder[anyCase: "name"]?.string else {
                throw .badShape("a folder has no name")
            }
            folderIDs.append(createFolder(name, call).id)
        }
        var ids: [String] = []
        for cipher in ciphers {
            ids.append(try createCipher(cipher, in: nil, [], call).id)
        }
        for pair in relations {
            guard
                let item = pair[anyCase: "key"]?.int, ids.indices.contains(item),
                let folder = pair[anyCase: "value"]?.int, folderIDs.indices.contains(folder)
            else { continue }
            place(ids[item], of: call.userID) { $0.folderID = folderIDs[folder] }
        }
    }

    /// Anything in the vault may be another now.
    fileprivate mutating func tellOfAll(_ call: borrowing Call) {
        touch(call.userID, call)
        announce(.vaultChanged, to: call.userID, date: lastStamp, call, namesActor: false)
    }

    /// The ids that a bulk call names.
    func ids(_ call: Call, to deed: Refusal.Deed) throws(Refusal) -> [String] {
        let ids = try call.read(IDsRequest.self).ids
        try checkCount(ids, to: deed)
        return ids
    }

    fileprivate func checkCount(_ ids: [String], to deed: Refusal.Deed) throws(Refusal) {
        if let limit = personality.bulkLimit, ids.count > limit { throw .tooMany(deed) }
    }

    /// One of the servers tells of a single move as of a change of that item, with its old date.
    fileprivate mutating func tellOfMove(_ wish: MoveRequest, _ call: Call) {
        if wish.ids.count == 1, let id = wish.ids.first?.lowercased(), !personality.bulkSkips,
            let cipher = try? find(id, for: call.userID).cipher
        {
            tell(.cipherUpdated, cipher, call)
        } else {
            tellOfMany(call)
        }
    }
}
