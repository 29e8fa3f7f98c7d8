import Bitwarden
import JSON

extension World {
    enum Detail {
        /// The answer to a call about one item.
        case plain
        /// With the collections it is in: in lists, in a sync, and where asked for.
        case details
        /// Without what is the user's own.
        case mini
    }

    func render(
        _ cipher: StoredCipher,
        for userID: String,
        _ detail: Detail,
        origin: String
    ) -> JSON.Raw {
        let access = cipher.organizationID.flatMap { organizations[$0]?.access(of: userID) }
        return RenderedCipher(
            cipher: cipher,
            placement: placement(cipher.id, of: userID),
            access: access ?? .owner,
            detail: personality.alwaysDetails ? .details : detail,
            personality: personality,
            fileAddress: {
                "\(origin)/attachments/\(cipher.id)/\($0)?token=\(fileToken(cipher, $0))"
            }
        ).raw
    }

    private func fileToken(_ cipher: StoredCipher, _ fileID: String) -> String {
        fileTokens[cipher.id + "/" + fileID] ?? ""
    }
}

/// An item as it is answered.
private struct RenderedCipher {
    let cipher: StoredCipher
    let placement: Placement
    let access: Access
    let detail: World.Detail
    let personality: Personality
    let fileAddress: (String) -> String

    var raw: JSON.Raw {
        .object(capacity: 3_072) { object in
            writeHead(&object)
            writeContent(&object)
            writeFiles(&object)
        }
    }

    private func writeHead(_ object: inout JSON.ObjectWriter) {
        object.add("object", name)
        object.add("id", cipher.id)
        object.add("type", cipher.type)
        object.add("organizationId", cipher.organizationID)
        object.add("creationDate", personality.stamp(cipher.created))
        object.add("revisionDate", personality.stamp(cipher.revised))
        object.add("deletedDate", personality.stamp(cipher.deleted))
        object.add("reprompt", cipher.content.reprompt)
        object.add("organizationUseTotp", true)
        if detail == .details { object.add("collectionIds", cipher.collectionIDs) }
        if detail == .mini { return }
        object.add("folderId", placement.folderID)
        object.add("favorite", placement.isFavorite)
        object.add("archivedDate", personality.stamp(placement.archived))
        object.add("edit", access.mayEdit)
        object.add("viewPassword", access.showsPasswords)
        object.object("permissions") {
            $0.add("delete", access.mayEdit)
            $0.add("restore", access.mayEdit)
        }
    }

    private var name: String {
        switch detail {
        case .plain: "cipher"
        case .details: "cipherDetails"
        case .mini: "cipherMini"
        }
    }

    private func writeContent(_ object: inout JSON.ObjectWriter) {
        let content = cipher.content
        object.add("key", content.key)
        object.add("name", content.name)
        object.add("notes", content.notes)
        let member = TypedMember.name(of: cipher.type)
        for name in TypedMember.names.prefix(personality.typeLimit) {
            object.add(name, name == member ? content.typed : .null)
        }
        object.add("fields", content.fields)
        object.add("passwordHistory", content.passwordHistory)
        switch personality.mirror {
        case .object: object.add("data", mirror)
        case .text:
            let isBlob = !content.blob.isNull
            object.add("data", isBlob ? content.blob : JSON.Raw(Pascal.text(of: mirror)))
            object.add("partialData", String?.none)
        }
    }

    /// The content once more, in one object.
    private var mirror: JSON.Raw {
        var parts = Parts([])
        let typed = (try? JSON.Document(cipher.content.typed))?.root
        for member in typed?.object.map(Array.init) ?? [] {
            parts[member.name.string] = member.value.raw
        }
        parts["fields"] = cipher.content.fields
        parts["name"] = cipher.content.name
        parts["notes"] = cipher.content.notes
        parts["passwordHistory"] = cipher.content.passwordHistory
        return parts.raw
    }

    private func writeFiles(_ object: inout JSON.ObjectWriter) {
        guard !cipher.files.isEmpty else {
            object.add("attachments", String?.none)
            return
        }
        object.add("attachments", cipher.files.map { $0.answer(fileAddress($0.id)) })
    }
}

extension StoredFile {
    func answer(_ url: String) -> AttachmentAnswer {
        AttachmentAnswer(id: id, url: url, fileName: fileName, key: key, size: size)
    }
}

/// A value whose names all begin with a capital letter.
private struct Pascal: JSON.Writable {
    let value: JSON.Value

    static func text(of raw: JSON.Raw) -> String {
        guard let document = try? JSON.Document(raw) else { return "" }
        return String(decoding: JSON.Raw(Pascal(value: document.root)).bytes, as: UTF8.self)
    }

    func write(to json: inout JSON.Writer) {
        if let members = value.object {
            json.object { object in
                for member in members {
                    let name = member.name.string
                    object.add(
                        name.prefix(1).uppercased() + name.dropFirst(),
                        Pascal(value: member.value)
                    )
                }
            }
        } else if let elements = value.array {
            json.array { array in
                for element in elements { array.add(Pascal(value: element)) }
            }
        } else {
            json.raw(value.raw)
        }
    }
}
