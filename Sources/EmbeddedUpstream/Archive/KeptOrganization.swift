import JSON

extension Organization: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("name", name)
            object.add("billingEmail", billingEmail)
            object.add("publicKey", publicKey)
            object.add("wrappedPrivateKey", wrappedPrivateKey)
            object.add("created", created)
            object.object("collections") { list in
                for (id, name) in collections { list.add(id, name) }
            }
            object.object("members") { list in
                for (userID, member) in members { list.add(userID, member) }
            }
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        name = try json.read("name")
        billingEmail = try json.read("billingEmail")
        publicKey = try json.read("publicKey")
        wrappedPrivateKey = try json.read("wrappedPrivateKey")
        created = try json.moment("created")
        for member in json["collections"]?.object.map(Array.init) ?? [] {
            collections[member.name.string] = member.value.string
        }
        for member in json["members"]?.object.map(Array.init) ?? [] {
            members[member.name.string] = try Member(json: member.value)
        }
    }
}

extension Organization.Member: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("key", key)
            object.add("type", type)
            object.add("status", status)
            object.add("isReadOnly", isReadOnly)
            object.add("hidesPasswords", hidesPasswords)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        key = try json.read("key")
        type = try json.read("type")
        status = try json.read("status")
        isReadOnly = try json.read("isReadOnly")
        hidesPasswords = try json.read("hidesPasswords")
    }
}
