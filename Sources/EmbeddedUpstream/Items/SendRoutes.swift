import Bitwarden
import Crypto
import HTTP
import JSON

extension Routes {
    /// Texts that are sent to strangers. Files are not taken.
    mutating func addSends() {
        on(.get, "/api/sends", .sends) { call, world throws(Refusal) in
            let sends = world.sends(of: call.userID)
            return .list { list in for send in sends { list.add(send) } }
        }
        on(.get, "/api/sends/{id}", .sends) { call, world throws(Refusal) in
            Reply(json: world.answer(try world.send(call)))
        }
        on(.post, "/api/sends", .sends) { call, world throws(Refusal) in
            let body = try world.checkSend(try call.json())
            let send = StoredSend(id: call.newID(), body: body, revised: world.stamp(call))
            world.put(send, .sendCreated, call)
            return Reply(json: world.answer(send))
        }
        on(.put, "/api/sends/{id}", .sends) { call, world throws(Refusal) in
            var send = try world.send(call)
            send.body = try world.keepingPassword(
                of: send.body,
                in: world.checkSend(try call.json())
            )
            send.revised = world.stamp(call)
            world.put(send, .sendUpdated, call)
            return Reply(json: world.answer(send))
        }
        on(.put, "/api/sends/{id}/remove-password", .sends) { call, world throws(Refusal) in
            var send = try world.send(call)
            var edit = JSON.Edit(try world.document(send.body))
            for path in [["password"], ["emails"]] as [JSON.Path] { edit.remove(path) }
            guard let body = try? JSON.Raw(edit.bytes) else { throw .badJSON }
            send.body = body
            send.revised = world.stamp(call)
            world.put(send, .sendUpdated, call)
            return Reply(json: world.answer(send))
        }
        on(.delete, "/api/sends/{id}", .sends) { call, world throws(Refusal) in
            let send = try world.send(call)
            world.accounts[call.userID]?.sends[send.id] = nil
            world.touch(call.userID, call)
            world.announce(
                .sendDeleted,
                id: send.id,
                to: call.userID,
                date: send.revised,
                call
            )
            return Reply()
        }
    }
}

extension World {
    func sends(of userID: String) -> [JSON.Raw] {
        (accounts[userID]?.sends.values).map { sends in
            sends.sorted { $0.id < $1.id }.map(answer)
        } ?? []
    }

    fileprivate func send(_ call: Call) throws(Refusal) -> StoredSend {
        guard let send = accounts[call.userID]?.sends[try call.id()] else { throw .missingSend }
        return send
    }

    fileprivate func document(_ raw: JSON.Raw) throws(Refusal) -> JSON.Document {
        guard let document = try? JSON.Document(raw) else { throw .badJSON }
        return document
    }

    fileprivate func checkSend(_ json: JSON.Value) throws(Refusal) -> JSON.Raw {
        guard json[anyCase: "type"]?.int == SendAnswer.text else { throw .badType }
        for name in ["key", "name", "deletionDate"] where json[anyCase: name]?.string == nil {
            throw .badShape("\(name) is missing")
        }
        return json.raw.copy
    }

    /// A password goes by a route of its own only, or with the names of those who can read it; whoever says none leaves
    /// it alone. Those names go with the first edit that does not say them again.
    fileprivate func keepingPassword(
        of old: JSON.Raw,
        in new: JSON.Raw
    ) throws(Refusal) -> JSON.Raw {
        let present = try document(old).root
        guard let password = present[anyCase: "password"], password.string != nil else {
            return new
        }
        let wish = try document(new)
        guard wish.root[anyCase: "password"]?.string == nil,
            wish.root[anyCase: "emails"]?.string?.isEmpty ?? true
        else { return new }
        var edit = JSON.Edit(wish)
        do {
            try edit.set(["password"], to: password.raw)
            return try JSON.Raw(edit.bytes)
        } catch {
            throw .badJSON
        }
    }

    fileprivate mutating func put(_ send: StoredSend, _ kind: HubEvent.Kind, _ call: Call) {
        accounts[call.userID]?.sends[send.id] = send
        touch(call.userID, call)
        announce(kind, id: send.id, to: call.userID, date: send.revised, call)
    }

    fileprivate func answer(_ send: StoredSend) -> JSON.Raw {
        guard let json = (try? JSON.Document(send.body))?.root else { return .null }
        return .object(capacity: 1_024) { object in
            object.add("object", "send")
            object.add("id", send.id)
            object.add("accessId", send.accessID(personality.name))
            for name in ["type", "name", "notes", "text", "key", "maxAccessCount", "password"] {
                object.add(name, json[anyCase: name]?.raw ?? .null)
            }
            object.add("file", String?.none)
            object.add("accessCount", send.accesses)
            object.add("disabled", json[anyCase: "disabled"]?.bool ?? false)
            object.add("hideEmail", json[anyCase: "hideEmail"]?.bool ?? false)
            object.add("revisionDate", personality.stamp(send.revised))
            object.add("expirationDate", json[anyCase: "expirationDate"]?.raw ?? .null)
            object.add("deletionDate", json[anyCase: "deletionDate"]?.raw ?? .null)
            guard personality.limitsSends else { return }
            let (emails, password) = (json[anyCase: "emails"]?.string, json[anyCase: "password"])
            let kind: SendAnswer.Guard =
                emails?.isEmpty == false ? .emails : password?.string == nil ? .nothing : .password
            object.add("emails", emails)
            object.add("authType", kind.rawValue)
        }
    }
}

extension StoredSend {
    /// What the address of a send has of its id: sixteen bytes in letters that an address may have.
    fileprivate func accessID(_ personality: Personality.Name) -> String {
        var bytes: [UInt8] = []
        var digits = id.filter { $0 != "-" }[...]
        while let byte = UInt8(digits.prefix(2), radix: 16) {
            bytes.append(byte)
            digits = digits.dropFirst(2)
        }
        if personality == .bitwarden, bytes.count == 16 {
            // Its first three groups are numbers, of which the lowest byte comes first.
            bytes =
                bytes[..<4].reversed() + bytes[4..<6].reversed() + bytes[6..<8].reversed()
                + bytes[8...]
        }
        return Base64.text(of: bytes).inAddress
    }
}
