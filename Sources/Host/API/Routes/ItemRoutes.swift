import HTTP
import JSON
import Vault
import Sync

/// One item: read, made, replaced, thrown away and fetched back.
extension VaultAPI {
    static let itemRoutes: [Route] = [
        .vault(
            .get,
            "/object/item/{id}",
            Description("An item, by its id or a search.", answer: .data(.item))
        ) { call, desk in
            .success(try await desk.findItem(call.id))
        },
        .vault(
            .post,
            "/object/item",
            Description(
                "Makes an item.",
                body: .json(.newItem),
                answer: .data(.item),
                isEdit: true
            )
        ) { call, desk in
            let body = try await call.itemBody(isNew: true, for: desk)
            let written = try await desk.add(body)
            return .success(written.value).with(written.place)
        },
        .vault(
            .put,
            "/object/item/{id}",
            Description(
                "Replaces an item.",
                body: .json(.itemBody),
                answer: .data(.item),
                isEdit: true
            )
        ) { call, desk in
            let body = try await call.itemBody(isNew: false, for: desk)
            let written = try await desk.update(call.id.lowercased(), body)
            return .success(written.value).with(written.place)
        },
        .vault(
            .delete,
            "/object/item/{id}",
            Description(
                "Puts an item into the trash, or deletes it for good.",
                query: [.flag("permanent", "For good.")],
                answer: .nothing,
                isEdit: true
            )
        ) { call, desk in
            let id = call.id.lowercased()
            let isForGood = call.has("permanent")
            let written = isForGood ? try await desk.delete(id) : try await desk.trash(id)
            return .done.with(written.place)
        },
        .vault(
            .post,
            "/restore/item/{id}",
            Description(
                "Fetches an item back from the trash or the archive.",
                answer: .nothing,
                isEdit: true
            )
        ) { call, desk in
            .done.with(try await desk.restore(call.id.lowercased()).place)
        },
        .vault(
            .post,
            "/archive/item/{id}",
            Description("Puts an item into the archive.", answer: .nothing, isEdit: true)
        ) { call, desk in
            .done.with(try await desk.archive(call.id.lowercased()).place)
        },
    ]
}

extension VaultAPI.Call {
    /// The body as an item, held to what upstream would refuse later.
    ///
    /// - Parameter isNew: What is there already keeps the key that the body leaves out.
    fileprivate func itemBody(
        isNew: Bool,
        for desk: any AccountDesk
    ) async throws -> ItemBody {
        do {
            return try await itemBody(isNew: isNew)
        } catch {
            desk.noteRefused(isNew ? .create : .update)
            throw error
        }
    }

    private func itemBody(isNew: Bool) async throws -> ItemBody {
        let document = try await json()
        let key = document.root["sshKey"]
        let type = document.root["type"].flatMap { try? Int(json: $0) }
        if type == ItemType.sshKey.number, isNew || key?.isNull == false { try requireKey(key) }
        do throws(EditRefusal) {
            return try ItemBody(document.bytes)
        } catch {
            throw DeskRefusal.unfit(error)
        }
    }

    private func requireKey(_ key: JSON.Value?) throws {
        for name in ["privateKey", "publicKey", "keyFingerprint"] {
            let isBlank = key?[name]?.string?.allSatisfy(\.isWhitespace) ?? true
            if isBlank { throw DeskRefusal.notAllowed("sshKey.\(name) must not be blank.") }
        }
    }
}

extension AccountDesk {
    /// An item by its id, whatever is the matter with it, or the one that a search shows among
    /// those that are not in the trash.
    func findItem(_ text: String) async throws -> ViewedItem {
        if text.isIdentifier {
            guard let item = try await item(text.lowercased()) else { throw DeskRefusal.notFound }
            return item
        }
        return try await items().filter { !$0.item.cipher.isInTrash }.one(by: text)
    }

    /// An item that is there by its id.
    func knownItem(_ id: String) async throws -> Item {
        guard let viewed = try await item(id.lowercased()) else { throw DeskRefusal.notFound }
        return viewed.item
    }
}

extension DeskRefusal {
    static let inTrash = DeskRefusal.notAllowed(
        "You may not edit a deleted item. Use the restore command first."
    )
    static let notInTrash = DeskRefusal.notAllowed("Cipher is not in trash.")
    static let archivedAlready = DeskRefusal.notAllowed("Item is already archived.")
    static let trashedToArchive = DeskRefusal.notAllowed(
        "Item is in the trash, the item must be restored before archiving."
    )
    static let premium = DeskRefusal.notAllowed("Premium status is required to use this feature.")
}
