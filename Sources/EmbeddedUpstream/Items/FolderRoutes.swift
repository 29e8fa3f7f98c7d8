import Bitwarden
import HTTP
import JSON

extension Routes {
    mutating func addFolders() {
        on(.get, "/api/folders", .listFolders) { call, world throws(Refusal) in
            let folders = world.folders(of: call.userID)
            return .list { list in for folder in folders { list.add(folder) } }
        }
        on(.get, "/api/folders/{id}", .readFolder) { call, world throws(Refusal) in
            Reply(world.answer(try world.folder(call)))
        }
        on(.post, "/api/folders", .createFolder) { call, world throws(Refusal) in
            let wish: FolderRequest = try call.read()
            try world.checkFolderName(wish.name)
            let folder = world.createFolder(wish.name, call)
            world.tell(.folderCreated, folder, call)
            return Reply(world.answer(folder))
        }
        for method in [Method.put, .post] {
            on(method, "/api/folders/{id}", .updateFolder) { call, world throws(Refusal) in
                let wish: FolderRequest = try call.read()
                try world.checkFolderName(wish.name)
                var folder = try world.folder(call)
                folder.name = wish.name
                folder.revised = world.stamp(call)
                world.accounts[call.userID]?.folders[folder.id] = folder
                world.tell(.folderUpdated, folder, call)
                return Reply(world.answer(folder))
            }
        }
        for (method, path) in [(Method.delete, ""), (.post, "/delete")] {
            on(method, "/api/folders/{id}" + path, .deleteFolder) { call, world throws(Refusal) in
                let folder = try world.folder(call)
                world.deleteFolder(folder, call)
                return Reply()
            }
        }
    }
}

extension World {
    func answer(_ folder: StoredFolder) -> FolderAnswer {
        FolderAnswer(
            id: folder.id,
            name: folder.name,
            revisionDate: personality.stamp(folder.revised)
        )
    }

    func folders(of userID: String) -> [FolderAnswer] {
        (accounts[userID]?.folders.values).map { folders in
            folders.sorted { $0.id < $1.id }.map(answer)
        } ?? []
    }

    mutating func createFolder(_ name: String, _ call: Call) -> StoredFolder {
        let folder = StoredFolder(id: call.newID(), name: name, revised: stamp(call))
        accounts[call.userID]?.folders[folder.id] = folder
        changes.insert(.account(call.userID))
        return folder
    }

    /// The items that were in it are in none afterwards, and their own dates do not move.
    fileprivate mutating func deleteFolder(_ folder: StoredFolder, _ call: Call) {
        accounts[call.userID]?.folders[folder.id] = nil
        for (id, placement) in accounts[call.userID]?.placements ?? [:]
        where placement.folderID == folder.id {
            accounts[call.userID]?.placements[id]?.folderID = nil
        }
        tell(.folderDeleted, folder, call)
    }

    fileprivate func folder(_ call: Call) throws(Refusal) -> StoredFolder {
        guard let folder = accounts[call.userID]?.folders[try call.id()] else {
            throw .missingFolder
        }
        return folder
    }

    fileprivate func checkFolderName(_ name: String) throws(Refusal) {
        guard personality.checksLengthsAndShape else { return }
        guard name.utf8.count <= 1_000 else { throw .tooLong(member: "Name", limit: 1_000) }
        guard ContentCheck.isEncrypted(name) else { throw .notEncrypted(member: "Name") }
    }

    fileprivate mutating func tell(_ kind: HubEvent.Kind, _ folder: StoredFolder, _ call: Call) {
        touch(call.userID, call)
        announce(kind, id: folder.id, to: call.userID, date: folder.revised, call)
    }
}
