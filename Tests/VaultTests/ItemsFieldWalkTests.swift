import Crypto
import JSON
import Testing

@testable import Vault

/// G-CS2: a cipher with something in every member that the schema has, at every level, goes through
/// all that copies ciphers. It is made by walking the schema, so a row added there is tried here.
@Suite struct ItemsFieldWalkTests {
    let samples: Samples
    private let sealer: Sealer
    private let cipher: Cipher

    init() throws {
        samples = try Samples()
        let key = SymmetricKey(from: samples.entropy)
        let wrapped = try samples.keys.user.wrap(key)
        sealer = Sealer(key, entropy: samples.entropy)
        let filling = Filling(sealer: sealer, wrapped: wrapped)
        cipher = try Cipher(filling.object(.item, at: []))
    }

    /// What upstream documents of each object, answers and requests together.
    private static let documented: [(shape: Shape, names: Set<String>)] = [
        (
            .item,
            [
                "object", "id", "type", "organizationId", "folderId", "favorite", "creationDate",
                "revisionDate", "deletedDate", "archivedDate", "reprompt", "edit", "viewPassword",
                "permissions", "organizationUseTotp", "collectionIds", "key", "name", "notes",
                "login", "secureNote", "card", "identity", "sshKey", "bankAccount",
                "driversLicense", "passport", "fields", "passwordHistory", "attachments", "data",
                "partialData", "attachments2", "lastKnownRevisionDate", "encryptedFor",
                "encryptedByKeyId",
                // Of official clients' models only.
                "localData", "attachmentDecryptionFailures",
            ]
        ),
        (
            .login,
            [
                "username", "password", "passwordRevisionDate", "totp", "autofillOnPageLoad", "uri",
                "uris", "fido2Credentials",
            ]
        ),
        (.uri, ["uri", "match", "uriChecksum"]),
        (
            .passkey,
            [
                "credentialId", "keyType", "keyAlgorithm", "keyCurve", "keyValue", "rpId", "rpName",
                "userHandle", "userName", "userDisplayName", "counter", "discoverable",
                "creationDate",
            ]
        ),
        (.secureNote, ["type"]),
        (.card, ["cardholderName", "brand", "number", "expMonth", "expYear", "code"]),
        (
            .identity,
            [
                "title", "firstName", "middleName", "lastName", "address1", "address2", "address3",
                "city", "state", "postalCode", "country", "company", "email", "phone", "ssn",
                "username", "passportNumber", "licenseNumber",
            ]
        ),
        (.sshKey, ["privateKey", "publicKey", "keyFingerprint"]),
        (.field, ["type", "name", "value", "linkedId"]),
        (.historyEntry, ["password", "lastUsedDate"]),
        (.attachment, ["id", "url", "fileName", "key", "size", "sizeName"]),
    ]

    @Test func `G-CS2 every object has the members that upstream documents, and no others`() {
        for (shape, names) in Self.documented {
            #expect(Set(shape.members.map(\.name)) == names)
            #expect(shape.members.count == names.count)
        }
        var reached: [ObjectIdentifier] = []
        var shapes = [Shape.item]
        while let shape = shapes.popLast() {
            reached.append(ObjectIdentifier(shape))
            shapes += shape.members.compactMap(\.kind.inner)
        }
        #expect(Set(reached) == Set(Self.documented.map { ObjectIdentifier($0.shape) }))
    }

    @Test func `nothing of the walked cipher is empty, and all of it opens`() throws {
        let leaves = try Samples.leaves(cipher.bytes)
        #expect(leaves.count > 90)
        let empty = leaves.filter { $0.value == "null" || $0.value == "\"\"" }.keys
        #expect(
            empty.map { $0 } == [".organizationId"],
            "A personal item has no owner but the user."
        )
        #expect(Item(cipher, keys: samples.keys).flaws.isEmpty)
    }

    @Test func `G-CS2 another id leaves every other member as it is`() throws {
        var expected = try Samples.leaves(cipher.bytes)
        expected[".id"] = #""new""#
        #expect(try Samples.leaves(cipher.withID("new").bytes) == expected)
    }

    @Test func `G-CS2, R-121, R-122 a backup has every member that it is to have, and no other`()
        throws
    {
        let backup = try cipher.backup(
            at: Samples.now,
            keys: samples.keys,
            entropy: samples.entropy
        )
        var before = try opened(cipher, with: sealer)
        var after = try opened(backup, with: backup.sealer(in: samples.keys))
        #expect(after.removeValue(forKey: ".organizationId") == "null")
        #expect(after.removeValue(forKey: ".name") == "name - 2026-01-11 07:12:44")
        #expect(after.removeValue(forKey: ".key") != before.removeValue(forKey: ".key"))
        before[".name"] = nil
        for member in Shape.item.members where !member.uses.contains(.copied) {
            before = before.filter { !$0.key.isAt(member.name) }
        }
        before[".login.uri"] = nil
        #expect(after == before)
        for gone in ["id", "attachments", "attachmentDecryptionFailures", "deletedDate"] {
            #expect(!after.keys.contains { $0.isAt(gone) }, "\(gone)")
        }
    }

    @Test func `G-CS2 a request has every member that upstream takes, as it is, and no other`()
        throws
    {
        let request = try Samples.leaves(cipher.request())
        var expected = try Samples.leaves(cipher.bytes)
        for member in Shape.item.members where !member.uses.contains(.sent) {
            expected = expected.filter { !$0.key.isAt(member.name) }
        }
        expected[".login.uri"] = nil
        expected[".lastKnownRevisionDate"] = "null"
        #expect(request == expected)
    }

    @Test func `G-CS2 every member survives the account's change of key`() throws {
        let new = try Samples(seed: 2)
        let moved = try cipher.resealed(from: samples.keys, to: new.keys)
        var (before, after) = (try Samples.leaves(cipher.bytes), try Samples.leaves(moved.bytes))
        #expect(before.removeValue(forKey: ".key") != after.removeValue(forKey: ".key"))
        #expect(after == before)
    }

    /// The leaves, each that is sealed as what is in it.
    private func opened(_ cipher: Cipher, with sealer: Sealer) throws -> [String: String] {
        try Samples.leaves(cipher.bytes).mapValues { leaf in
            guard leaf.hasPrefix("\"2.") else { return leaf }
            return (try? sealer.open(String(leaf.dropFirst().dropLast()))) ?? leaf
        }
    }
}

/// Makes values by walking a shape.
private struct Filling {
    let sealer: Sealer
    let wrapped: String

    func object(_ shape: Shape, at path: [String]) throws -> JSON.Raw {
        let values = try shape.members.map { member in
            (member.name, try value(of: member, at: path + [member.name]))
        }
        return .object { object in
            for (name, value) in values { object.add(name, value) }
        }
    }

    private func value(of member: Member, at path: [String]) throws -> JSON.Raw {
        let text = path.joined(separator: ".")
        return switch member.kind {
        case .sealed: JSON.Raw(try sealer.seal(text))
        case .checksum(let of):
            JSON.Raw(
                try sealer.seal(URIChecksum.of((path.dropLast() + [of]).joined(separator: ".")))
            )
        case .key: JSON.Raw(path == ["key"] ? wrapped : try sealer.seal(text))
        case .text: path == ["organizationId"] ? .null : JSON.Raw(text)
        case .date: "2026-01-02T03:04:05.678Z"
        case .flag: true
        case .number(let range, _): JSON.Raw(min(range.upperBound, 1))
        case .texts: JSON.Raw([text])
        case .kept: try kept(member.name)
        case .mirror: JSON.Raw(text)
        case .object(let shape): try object(shape, at: path)
        case .list(let shape): JSON.Raw([try object(shape, at: path)])
        }
    }

    /// What is never looked into: plain, or an object of a type that is only recognised.
    private func kept(_ name: String) throws -> JSON.Raw {
        guard ["bankAccount", "driversLicense", "passport"].contains(name) else {
            return ["edit", "viewPassword", "autofillOnPageLoad"].contains(name)
                ? true : JSON.Raw(name)
        }
        let sealed = try sealer.seal(name)
        return .object { $0.add("firstName", sealed) }
    }
}

extension Member.Kind {
    fileprivate var inner: Shape? {
        switch self {
        case .object(let shape), .list(let shape): shape
        case .sealed, .checksum, .key, .text, .date, .flag, .number, .texts, .kept, .mirror: nil
        }
    }
}

extension String {
    /// Whether the path leads to the member, or into it.
    fileprivate func isAt(_ member: String) -> Bool {
        self == ".\(member)" || hasPrefix(".\(member).") || hasPrefix(".\(member)[")
    }
}
