import Bitwarden
import JSON

extension Account: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("email", email)
            object.add("name", name)
            object.add("passwordHash", passwordHash)
            object.object("settings") { settings.write(to: &$0, .camel) }
            object.add("wrappedUserKey", wrappedUserKey)
            object.add("userKeyID", userKeyID)
            object.add("publicKey", keys.publicKey)
            object.add("wrappedPrivateKey", keys.wrappedPrivateKey)
            object.add("securityStamp", securityStamp)
            object.add("apiKey", apiKey)
            object.add("created", created)
            object.add("revised", revised)
            object.add("authenticatorKey", authenticatorKey)
            object.add("usedInterval", usedInterval)
            object.add("organizationIDs", organizationIDs.sorted())
            object.add("placements", placements.map { KeptPlacement(id: $0, placement: $1) })
            object.add("folders", Array(folders.values))
            object.add("sends", Array(sends.values))
            object.add("devices", Array(devices.values))
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        email = try json.read("email")
        name = try json.read("name")
        passwordHash = try json.read("passwordHash")
        settings = try json.read("settings")
        wrappedUserKey = try json.read("wrappedUserKey")
        userKeyID = try json.read("userKeyID")
        keys = AccountKeys(
            publicKey: try json.read("publicKey"),
            wrappedPrivateKey: try json.read("wrappedPrivateKey")
        )
        securityStamp = try json.read("securityStamp")
        apiKey = try json.read("apiKey")
        created = try json.moment("created")
        revised = try json.moment("revised")
        authenticatorKey = try json.read("authenticatorKey")
        usedInterval = Int64(try json.read("usedInterval", as: Int.self))
        organizationIDs = Set(try json.read("organizationIDs", as: [String].self))
        for kept in try json.read("placements", as: [KeptPlacement].self) {
            placements[kept.id] = kept.placement
        }
        for folder in try json.read("folders", as: [StoredFolder].self) {
            folders[folder.id] = folder
        }
        for send in try json.read("sends", as: [StoredSend].self) { sends[send.id] = send }
        for device in try json.read("devices", as: [StoredDevice].self) {
            devices[device.identifier] = device
        }
    }
}

private struct KeptPlacement: JSON.Writable, JSON.Readable {
    let id: String
    var placement: Placement

    init(id: String, placement: Placement) {
        self.id = id
        self.placement = placement
    }

    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("folderID", placement.folderID)
            object.add("isFavorite", placement.isFavorite)
            object.add("archived", placement.archived)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        placement = Placement()
        placement.folderID = try json.read("folderID")
        placement.isFavorite = try json.read("isFavorite")
        placement.archived = try json.moment(orNil: "archived")
    }
}

extension StoredFolder: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("name", name)
            object.add("revised", revised)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        name = try json.read("name")
        revised = try json.moment("revised")
    }
}

extension StoredSend: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("body", body)
            object.add("revised", revised)
            object.add("accesses", accesses)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        body = try json.read("body", as: JSON.Raw.self).copy
        revised = try json.moment("revised")
        accesses = try json.read("accesses")
    }
}

extension StoredDevice: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("identifier", identifier)
            object.add("type", type)
            object.add("name", name)
            object.add("created", created)
            object.add("refreshToken", refreshToken)
            object.add("clientID", clientID)
            object.add("rememberToken", rememberToken)
            object.add("access", access)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        identifier = try json.read("identifier")
        type = try json.read("type")
        name = try json.read("name")
        created = try json.moment("created")
        refreshToken = try json.read("refreshToken")
        clientID = try json.read("clientID")
        rememberToken = try json.read("rememberToken")
        access = try json.read("access")
    }
}

extension StoredDevice.Access: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("token", token)
            object.add("stamp", stamp)
            object.add("expires", expires)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        token = try json.read("token")
        stamp = try json.read("stamp")
        expires = try json.moment("expires")
    }
}
