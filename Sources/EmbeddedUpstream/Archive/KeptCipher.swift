import JSON
import Vault

/// Kept as ticks. A conformance of our own would be everybody's, so the readings stand here.
extension JSON.ObjectWriter {
    mutating func add(_ name: String, _ moment: Moment) { add(name, moment.ticks) }
    mutating func add(_ name: String, _ moment: Moment?) { add(name, moment?.ticks) }
}

extension JSON.Value {
    func moment(_ name: String) throws(JSON.Mismatch) -> Moment {
        Moment(ticks: Int64(try read(name, as: Int.self)))
    }

    func moment(orNil name: String) throws(JSON.Mismatch) -> Moment? {
        try read(name, as: Int?.self).map { Moment(ticks: Int64($0)) }
    }
}

extension StoredCipher: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("type", type)
            object.add("organizationID", organizationID)
            object.add("collectionIDs", collectionIDs)
            object.add("created", created)
            object.add("revised", revised)
            object.add("deleted", deleted)
            object.add("content", content)
            object.add("files", files)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        type = try json.read("type")
        organizationID = try json.read("organizationID")
        collectionIDs = try json.read("collectionIDs")
        created = try json.moment("created")
        revised = try json.moment("revised")
        deleted = try json.moment(orNil: "deleted")
        content = try json.read("content")
        files = try json.read("files")
    }
}

extension Content: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("name", name)
            object.add("notes", notes)
            object.add("key", key)
            object.add("reprompt", reprompt)
            object.add("fields", fields)
            object.add("passwordHistory", passwordHistory)
            object.add("typed", typed)
            object.add("blob", blob)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        name = try json.read("name", as: JSON.Raw.self).copy
        notes = try json.read("notes", as: JSON.Raw.self).copy
        key = try json.read("key", as: JSON.Raw.self).copy
        reprompt = try json.read("reprompt")
        fields = try json.read("fields", as: JSON.Raw.self).copy
        passwordHistory = try json.read("passwordHistory", as: JSON.Raw.self).copy
        typed = try json.read("typed", as: JSON.Raw.self).copy
        blob = try json.read("blob", as: JSON.Raw.self).copy
    }
}

extension StoredFile: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("id", id)
            object.add("fileName", fileName)
            object.add("key", key)
            object.add("size", size)
            object.add("isWhole", isWhole)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        fileName = try json.read("fileName")
        key = try json.read("key")
        size = try json.read("size")
        isWhole = try json.read("isWhole")
    }
}
