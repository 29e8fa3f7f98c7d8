import Bitwarden
import HTTP
import JSON

extension Routes {
    mutating func addFiles() {
        let path = "/api/ciphers/{id}/attachment"
        on(.post, path + "/v2", .announceFile) { call, world throws(Refusal) in
            let wish: AttachmentRequest = try call.read()
            let (cipher, file) = try world.announce(wish, call)
            world.tell(.cipherUpdated, cipher, call)
            let address = "\(cipher.id)/attachment/\(file.id)"
            let isWhole = world.personality.fileAddressIsWhole
            return Reply(
                AttachmentUpload(
                    attachmentID: file.id,
                    url: isWhole ? "/ciphers/" + address : address,
                    way: .direct,
                    cipher: world.render(cipher, for: call.userID, .plain, origin: call.origin)
                ),
                capacity: 4_096
            )
        }
        on(.post, path + "/{file}", .uploadFile) { call, world throws(Refusal) in
            try world.receive(call)
            return Reply()
        }
        on(.get, path + "/{file}", .readFile) { call, world throws(Refusal) in
            let (cipher, file) = try world.file(call)
            let token = call.newSecret(count: 40)
            world.fileTokens[cipher.id + "/" + file.id] = token
            let address = "\(call.origin)/attachments/\(cipher.id)/\(file.id)?token=\(token)"
            return Reply(file.answer(address))
        }
        open(.get, "/attachments/{id}/{file}", .downloadFile) { call, world throws(Refusal) in
            let key = try call.id() + "/" + call.parameters[1]
            guard let token = call.target.query["token"], !token.isEmpty,
                token == world.fileTokens[key], let bytes = world.files[key]
            else { throw .missingOther }
            return .bytes(bytes, type: "application/octet-stream")
        }
        for (method, suffix) in [(Method.delete, ""), (.post, "/delete")] {
            on(method, path + "/{file}" + suffix, .deleteFile) { call, world throws(Refusal) in
                let cipher = try world.deleteFile(call)
                world.tell(.cipherUpdated, cipher, call)
                let rendered = world.render(
                    cipher,
                    for: call.userID,
                    .plain,
                    origin: call.origin
                )
                return Reply(
                    json: .object(capacity: 4_096) {
                        $0.add("cipher", rendered)
                        if world.personality.emptyListsAreNull {
                            $0.add("object", "deleteAttachment")
                        }
                    }
                )
            }
        }
    }
}

extension World {
    fileprivate mutating func announce(
        _ wish: AttachmentRequest,
        _ call: Call
    ) throws(Refusal) -> (StoredCipher, StoredFile) {
        var cipher = try find(try call.id(), for: call.userID, to: .edit)
        guard wish.size >= 0 else { throw .badShape("fileSize is negative") }
        guard wish.size <= Self.largestFile else { throw .badShape("fileSize is too large") }
        if personality.filesAreDated {
            try checkFreshness(known: wish.lastKnownRevisionDate, cipher)
        }
        let file = StoredFile(
            id: Self.fileID(call),
            fileName: wish.fileName,
            key: wish.key,
            size: wish.size
        )
        cipher.files.append(file)
        if personality.filesRevise { cipher.revised = stamp(call) }
        fileTokens[cipher.id + "/" + file.id] = call.newSecret(count: 40)
        put(cipher, of: call.userID)
        return (cipher, file)
    }

    /// 525 MiB, more than either server takes.
    private static var largestFile: Int { 550_502_400 }

    private static func fileID(_ call: Call) -> String {
        let digits = UUIDText.make(call.chance).filter { $0 != "-" }
        return call.personality.fileAddressIsWhole ? String(digits.prefix(20)) : digits
    }

    fileprivate func file(_ call: Call) throws(Refusal) -> (StoredCipher, StoredFile) {
        let cipher = try find(try call.id(), for: call.userID).cipher
        guard let file = cipher.files.first(where: { $0.id == call.parameters[1] }) else {
            throw .missingFile
        }
        return (cipher, file)
    }

    fileprivate mutating func receive(_ call: Call) throws(Refusal) {
        var (cipher, file) = try file(call)
        guard let bytes = Multipart(call.headers["Content-Type"])?.part("data", in: call.body)
        else { throw .badShape("a part called data is wanted") }
        let tolerance = personality.fileAddressIsWhole ? 1_048_576 : 0
        guard (bytes.count - file.size).magnitude <= tolerance else { throw .tooLarge }
        file.isWhole = true
        file.size = bytes.count
        files[cipher.id + "/" + file.id] = bytes
        changes.insert(.file(cipher.id + "/" + file.id))
        for index in cipher.files.indices where cipher.files[index].id == file.id {
            cipher.files[index] = file
        }
        put(cipher, of: call.userID)
        touch(call.userID, call)
    }

    fileprivate mutating func deleteFile(_ call: Call) throws(Refusal) -> StoredCipher {
        var (cipher, file) = try file(call)
        guard try find(cipher.id, for: call.userID).access.mayEdit else { throw .forbidden(.edit) }
        cipher.files.removeAll { $0.id == file.id }
        files[cipher.id + "/" + file.id] = nil
        fileTokens[cipher.id + "/" + file.id] = nil
        changes.insert(.file(cipher.id + "/" + file.id))
        if personality.filesRevise { cipher.revised = stamp(call) }
        put(cipher, of: call.userID)
        return cipher
    }
}
