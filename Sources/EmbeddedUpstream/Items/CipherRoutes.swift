import Bitwarden
import HTTP
import JSON

extension Routes {
    /// Items, one by one.
    mutating func addCiphers() {
        on(.get, "/api/ciphers", .listCiphers) { call, world throws(Refusal) in
            let ciphers = world.visibleCiphers(of: call.userID)
            return .list(capacity: ciphers.count * 2_048 + 256) { list in
                for cipher in ciphers {
                    list.add(world.render(cipher, for: call.userID, .details, origin: call.origin))
                }
            }
        }
        on(.get, "/api/ciphers/{id}", .readCipher) { call, world throws(Refusal) in
            let cipher = try world.find(try call.id(), for: call.userID).cipher
            return world.reply(cipher, call)
        }
        on(.get, "/api/ciphers/{id}/details", .readCipher) { call, world throws(Refusal) in
            let cipher = try world.find(try call.id(), for: call.userID).cipher
            return world.reply(cipher, call, .details)
        }
        on(.post, "/api/ciphers", .createCipher) { call, world throws(Refusal) in
            let json = try call.json()
            let organizationID = json[anyCase: "organizationId"]?.string
            if let organizationID { try world.checkWritable(organizationID, [], call) }
            let cipher = try world.createCipher(json, in: organizationID, [], call)
            world.tell(.cipherCreated, cipher, call)
            return world.reply(cipher, call)
        }
        for method in [Method.put, .post] {
            on(method, "/api/ciphers/{id}", .updateCipher) { call, world throws(Refusal) in
                let cipher = try world.updateCipher(try call.id(), try call.json(), call)
                world.tell(.cipherUpdated, cipher, call)
                return world.reply(cipher, call)
            }
            on(method, "/api/ciphers/{id}/partial", .placeCipher) { call, world throws(Refusal) in
                let wish: PartialRequest = try call.read()
                let id = try call.id()
                let cipher = try world.find(id, for: call.userID, or: .missingCipherToPlace).cipher
                try world.checkFolder(wish.folderID, call)
                world.place(id, of: call.userID) {
                    $0.folderID = wish.folderID
                    $0.isFavorite = wish.isFavorite
                }
                world.touch(call.userID, call)
                return world.reply(cipher, call)
            }
        }
        addDeeds()
        addArchive()
    }

    private mutating func addDeeds() {
        on(.put, "/api/ciphers/{id}/delete", .trashCipher) { call, world throws(Refusal) in
            if let cipher = try world.trash(try call.id(), call) {
                world.tell(.cipherUpdated, cipher, call)
            }
            return Reply()
        }
        on(.put, "/api/ciphers/{id}/restore", .restoreCipher) { call, world throws(Refusal) in
            let id = try call.id()
            if let cipher = try world.restore(id, call) {
                world.tell(.cipherUpdated, cipher, call)
            }
            return world.reply(try world.find(id, for: call.userID).cipher, call)
        }
        for (method, path) in [(Method.delete, ""), (.post, "/delete")] {
            on(method, "/api/ciphers/{id}" + path, .deleteCipher) { call, world throws(Refusal) in
                _ = try world.destroy(try call.id(), call)
                return Reply()
            }
        }
    }

    private mutating func addArchive() {
        for (path, isArchived) in [("archive", true), ("unarchive", false)] {
            on(.put, "/api/ciphers/{id}/" + path, .archiveCipher) { call, world throws(Refusal) in
                let cipher = try world.archive(try call.id(), isArchived, call)
                let personality = world.personality
                // Either the new date, or the one that the item has had all along.
                world.tell(.cipherUpdated, cipher, call)
                if personality.hub.sparesActorOfArchive { world.spareActor(call) }
                return world.reply(cipher, call)
            }
            on(.put, "/api/ciphers/" + path, .archiveCipher) { call, world throws(Refusal) in
                let ids = try world.ids(call, to: isArchived ? .archive : .unarchive)
                let done = try world.forEach(ids, call) { world, id throws(Refusal) in
                    try world.archive(id, isArchived, call)
                }
                if done.isEmpty, world.personality.refusesSecondArchiving {
                    throw isArchived ? .notArchived : .notUnarchived
                }
                world.tellOfMany(call)
                if world.personality.hub.sparesActorOfArchive { world.spareActor(call) }
                return world.replyList(done, call, .plain)
            }
        }
    }
}

extension World {
    func visibleCiphers(of userID: String) -> [StoredCipher] {
        guard let account = accounts[userID] else { return [] }
        var ciphers = Array(account.ciphers.values)
        for id in account.organizationIDs {
            guard let organization = organizations[id], organization.access(of: userID) != nil
            else { continue }
            ciphers += organization.ciphers.values
        }
        return ciphers.sorted { $0.id < $1.id }
    }

    func reply(_ cipher: StoredCipher, _ call: Call, _ detail: Detail = .plain) -> Reply {
        Reply(json: render(cipher, for: call.userID, detail, origin: call.origin))
    }

    func replyList(_ ciphers: [StoredCipher], _ call: Call, _ detail: Detail) -> Reply {
        .list { list in
            for cipher in ciphers {
                list.add(render(cipher, for: call.userID, detail, origin: call.origin))
            }
        }
    }

    /// Leaves the acting device out of what was told last.
    mutating func spareActor(_ call: Call) {
        guard !announcements.isEmpty else { return }
        announcements[announcements.count - 1].sparedDeviceID = call.deviceID
    }
}
