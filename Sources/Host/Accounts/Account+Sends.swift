import Bitwarden
import Crypto
import JSON
import Sync
import Vault

// Texts for strangers. They live upstream, since their links lead there.

extension Account {
    func sends() async throws(DeskRefusal) -> [ViewedSend] {
        let keys = try keys()
        let server = record.webAddress
        return try slices(.send).compactMap { json in
            guard let answer = try? SendAnswer(json: json) else { return nil }
            return ViewedSend(opening: answer, keys, at: server)
        }
    }

    func addSend(_ draft: SendDraft) async throws(DeskRefusal) -> ViewedSend {
        try await requireSameAccount()
        let keys = try keys()
        let key = SendKey(from: office.surroundings.entropy)
        let request = try crypto { () throws(CryptoError) in
            try draft.request(key, keys, office.surroundings.entropy)
        }
        let answer = try await online { account throws(Setback) in
            try await account.createSend(request)
        }
        return await take(answer, keys)
    }

    func updateSend(
        _ sendID: String,
        _ draft: SendDraft
    ) async throws(DeskRefusal) -> ViewedSend {
        let old = try await send(sendID)
        guard old.answer.type == SendAnswer.text else {
            throw .notAllowed("Cannot change a Send's type")
        }
        try await requireSameAccount()
        let keys = try keys()
        let present = try await presentSend(sendID)
        let wrapped = (try? JSON.Document(present.raw))?.root[anyCase: "key"]?.string ?? ""
        let request = try crypto { () throws(CryptoError) in
            let key = try SendKey(try keys.user.openSecret(wrapped))
            return try draft.request(key, keys, office.surroundings.entropy, over: present)
        }
        let answer = try await online { account throws(Setback) in
            try await account.updateSend(sendID, request)
        }
        return await take(answer, keys)
    }

    func removeSendPassword(_ sendID: String) async throws(DeskRefusal) -> ViewedSend {
        let keys = try keys()
        _ = try await send(sendID)
        try await requireAcceptance()
        guard try await !presentSend(sendID).isForEmails else {
            throw .notAllowed("This Send has no password. Only certain emails can read it.")
        }
        let answer = try await online { account throws(Setback) in
            try await account.removePassword(ofSend: sendID)
        }
        return await take(answer, keys)
    }

    func deleteSend(_ sendID: String) async throws(DeskRefusal) {
        _ = try await send(sendID)
        try await removing { account throws(Setback) in try await account.deleteSend(sendID) }
        await follow { .removeSlice(.send, id: sendID, of: id, $0) }
    }

    private func send(_ sendID: String) async throws(DeskRefusal) -> ViewedSend {
        guard let send = try await sends().first(where: { $0.answer.id == sendID }) else {
            throw .notFound
        }
        return send
    }

    /// Who can read it may have been said elsewhere since the last sync, and nothing done here opens it to more people.
    private func presentSend(_ sendID: String) async throws(DeskRefusal) -> SendAnswer {
        try await online { account throws(Setback) in try await account.presentSend(sendID) }
    }

    /// It is shown even if somebody has locked the vault meanwhile.
    private func take(_ answer: SendAnswer, _ keys: KeyRing) async -> ViewedSend {
        let slice = BaseSlice(.send, id: answer.id, json: Array(answer.raw.bytes))
        await follow { .putSlice(slice, of: id, $0) }
        return ViewedSend(opening: answer, keys, at: record.webAddress)
    }
}

extension AccountRecord {
    /// Where the pages of sends are.
    fileprivate var webAddress: String {
        guard let bases = try? Bases(server) else { return server }
        switch bases.server {
        case "https://bitwarden.com": return "https://vault.bitwarden.com"
        case "https://bitwarden.eu": return "https://vault.bitwarden.eu"
        default: return bases.server
        }
    }
}

extension ViewedSend {
    /// One whose key does not open is shown all the same: others can see it, and its owner may want it gone.
    fileprivate init(opening answer: SendAnswer, _ keys: KeyRing, at server: String) {
        let json = (try? JSON.Document(answer.raw))?.root
        guard let wrapped = json?[anyCase: "key"]?.string,
            let secret = try? keys.user.openSecret(wrapped),
            let key = try? SendKey(secret),
            let sealer = try? Sealer(key.key())
        else {
            self.init(
                answer,
                url: nil,
                key: nil,
                name: Item.unreadableName,
                notes: nil,
                text: nil,
                fileName: nil
            )
            return
        }
        func open(_ value: JSON.Value?) -> String? {
            value?.string.flatMap { try? sealer.open($0) }
        }
        let bytes = key.revealedBytes()
        self.init(
            answer,
            url: "\(server)/#/send/\(answer.accessID ?? "")/\(Base64.urlText(of: bytes))",
            key: Base64.text(of: bytes),
            name: open(json?[anyCase: "name"]) ?? Item.unreadableName,
            notes: open(json?[anyCase: "notes"]),
            text: open(json?[anyCase: "text"]?[anyCase: "text"]),
            fileName: open(json?[anyCase: "file"]?[anyCase: "fileName"])
        )
    }
}

extension SendDraft {
    fileprivate func request(
        _ key: borrowing SendKey,
        _ keys: KeyRing,
        _ entropy: any Entropy,
        over old: SendAnswer? = nil
    ) throws(CryptoError) -> JSON.Raw {
        let sealer = Sealer(try key.key(), entropy: entropy)
        let (name, text) = (try sealer.seal(name), try sealer.seal(text))
        let notes: String? = if let notes { try sealer.seal(notes) } else { nil }
        let wrapped = try key.wrapped(by: keys.user)
        let hash: String? =
            if let password { try key.passwordHash(Secret(utf8: password)) } else { nil }
        return .object(capacity: 1_024) { send in
            send.add("type", SendAnswer.text)
            send.add("key", wrapped)
            send.add("name", name)
            send.add("notes", notes)
            send.object("text") {
                $0.add("text", text)
                $0.add("hidden", isHidden)
            }
            send.add("password", hash)
            if let old, old.isForEmails, hash == nil {
                send.add("emails", old.emails.joined(separator: ","))
                send.add("authType", SendAnswer.Guard.emails.rawValue)
            }
            send.add("maxAccessCount", maxAccessCount)
            send.add("deletionDate", Stamp.text(deletion, digits: 3, padded: true))
            send.add(
                "expirationDate",
                expiration.map { Stamp.text($0, digits: 3, padded: true) }
            )
            send.add("disabled", isDisabled)
            send.add("hideEmail", hidesEmail)
        }
    }
}
