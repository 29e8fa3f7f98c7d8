public import Bitwarden
import HTTP
import JSON
public import Vault

// Items. What is sent is made by ``Vault/Cipher/request(_:)``, frozen before it gets here.

extension UpstreamAccount {
    public func cipher(_ id: String) async throws(Setback) -> Cipher {
        let call = Call(.getCipher, .get, "/ciphers/\(segment: id)/details", about: .cipher)
        return try await send(call).cipher(id, of: call)
    }

    /// All items of the account, without what else a sync has.
    public func ciphers() async throws(Setback) -> [Cipher] {
        let call = Call(.listCiphers, .get, "/ciphers").large
        return try await list(of: call)
    }

    /// Upstream chooses the id. Nothing keeps the same from being created twice, so after an unknown
    /// outcome it has to be looked for.
    public func create(_ request: [UInt8]) async throws(Setback) -> Cipher {
        let call = Call(.createCipher, .post, "/ciphers").sending(request)
        return try await send(call).cipher(of: call)
    }

    /// Creates an item of an organisation, in collections.
    public func create(
        _ request: [UInt8],
        in collectionIDs: [String]
    ) async throws(Setback) -> Cipher {
        let body = try SharedCipherRequest(request, in: collectionIDs, .createCipher)
        let call = Call(.createCipher, .post, "/ciphers/create").sending(body)
        return try await send(call).cipher(of: call)
    }

    /// Replaces the item as a whole.
    public func update(_ id: String, _ request: [UInt8]) async throws(Setback) -> Cipher {
        try await change(.updateCipher, .put, id, body: request)
    }

    /// Changes what is the user's own even of an organisation's item.
    public func update(
        _ id: String,
        _ request: PartialRequest
    ) async throws(Setback) -> Cipher {
        try await change(.movePartial, .put, id, "/partial", body: request.bytes)
    }

    /// Moves the item to the trash. Trashing what is there already is no failure.
    public func trash(_ id: String) async throws(Setback) {
        try await remove(.trashCipher, .put, id, "/delete")
    }

    public func restore(_ id: String) async throws(Setback) -> Cipher {
        try await change(.restoreCipher, .put, id, "/restore")
    }

    /// Removes the item for good.
    public func delete(_ id: String) async throws(Setback) {
        try await remove(.deleteCipher, .delete, id)
    }

    public func archive(_ id: String) async throws(Setback) -> Cipher {
        try await setArchive(.archiveCipher, id, "/archive")
    }

    public func unarchive(_ id: String) async throws(Setback) -> Cipher {
        try await setArchive(.unarchiveCipher, id, "/unarchive")
    }

    /// Bitwarden before 2025.9 says without a word that it does not know what an archive is, and so may somebody on the
    /// way say that there is nothing at all. Who it was shows in the answer to another question.
    private func setArchive(
        _ operation: Operation,
        _ id: String,
        _ rest: String
    ) async throws(Setback) -> Cipher {
        do throws(Setback) {
            return try await change(operation, .put, id, rest)
        } catch {
            guard let words = error.rejection, words.status == 404,
                words.body.allSatisfy({ $0 <= 0x20 })
            else { throw error }
            do throws(Setback) { _ = try await cipher(id) } catch let look {
                guard look.rejection != nil else {
                    throw Setback(look.reason, operation: operation.words)
                }
            }
            throw error
        }
    }

    /// Gives the item to an organisation. It must have been encrypted for that.
    public func share(
        _ id: String,
        _ request: [UInt8],
        in collectionIDs: [String]
    ) async throws(Setback) -> Cipher {
        let body = try SharedCipherRequest(request, in: collectionIDs, .shareCipher)
        return try await change(.shareCipher, .put, id, "/share", body: body.bytes)
    }

    /// Changes in which collections an organisation's item is.
    ///
    /// - Returns: The item; nil if the user cannot see it any more.
    public func setCollections(
        of id: String,
        to collectionIDs: [String]
    ) async throws(Setback) -> Cipher? {
        let body = JSON.Raw.object { $0.add("collectionIds", collectionIDs) }
        let path = "/ciphers/\(segment: id)/collections"
        let call = Call(.changeCollections, .put, path + "_v2", about: .cipher).sending(body)
        do throws(Setback) {
            let answer: OptionalCipher = try await send(call).read(of: call)
            guard let raw = answer.cipher else { return nil }
            return try NetworkAnswer(status: 200, body: Array(raw.bytes)).cipher(id, of: call)
        } catch  where error.isUnknownPath {
            // Older servers have the call without an answer only.
            var call = call
            (call.path, call.expectation) = (path, .nothing)
            _ = try await send(call)
        }
        do throws(Setback) { return try await cipher(id) } catch {
            if case .missing = error.reason { return nil }
            // The change is done, whatever became of the look at it.
            throw Setback(error.reason, operation: error.operation, mayHaveLanded: true)
        }
    }

    private func change(
        _ operation: Operation,
        _ method: Method,
        _ id: String,
        _ rest: String = "",
        body: [UInt8]? = nil
    ) async throws(Setback) -> Cipher {
        var call = Call(operation, method, "/ciphers/\(segment: id)" + rest, about: .cipher)
        if let body { call = call.sending(body) }
        return try await send(call).cipher(id, of: call)
    }

    private func remove(
        _ operation: Operation,
        _ method: Method,
        _ id: String,
        _ rest: String = ""
    ) async throws(Setback) {
        let path = "/ciphers/\(segment: id)" + rest
        _ = try await send(
            Call(operation, method, path, about: .cipher, expecting: .silence)
        )
    }
}

extension SharedCipherRequest {
    fileprivate init(
        _ cipher: [UInt8],
        in collectionIDs: [String],
        _ operation: Operation
    ) throws(Setback) {
        guard let raw = try? JSON.Raw(cipher) else {
            throw Setback(.malformed("an item that is none"), operation: operation.words)
        }
        self.init(cipher: raw, collectionIDs: collectionIDs)
    }
}

extension UpstreamAccount {
    private func list(of call: Call) async throws(Setback) -> [Cipher] {
        let list: ListAnswer<JSON.Raw> = try await send(call).read(of: call)
        var ciphers: [Cipher] = []
        ciphers.reserveCapacity(list.elements.count)
        for raw in list.elements {
            do throws(NotACipher) {
                ciphers.append(try Cipher(raw))
            } catch {
                throw call.malformed("\(error)")
            }
        }
        return ciphers
    }
}

private struct OptionalCipher: JSON.Readable {
    let cipher: JSON.Raw?

    /// Some servers answer with the cipher itself.
    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let inner = json[anyCase: "cipher"] else {
            cipher = json[anyCase: "id"] == nil ? nil : json.raw
            return
        }
        cipher = inner.isNull ? nil : inner.raw
    }
}

extension JSON.Writable {
    fileprivate var bytes: [UInt8] { Array(JSON.Raw(self, capacity: 1_024).bytes) }
}
