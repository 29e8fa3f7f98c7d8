import Crypto
import JSON
import Testing

@testable import Vault

@Suite struct ItemsSchemaTests {
    let samples: Samples

    init() throws { samples = try Samples() }

    /// What official clients have in their model of an item.
    private static let itemProperties: Set = [
        "id", "organizationId", "folderId", "collectionIds", "key", "name", "notes", "type",
        "login",
        "identity", "card", "secureNote", "sshKey", "favorite", "reprompt", "organizationUseTotp",
        "edit", "permissions", "viewPassword", "localData", "attachments",
        "attachmentDecryptionFailures", "fields", "passwordHistory", "creationDate", "deletedDate",
        "revisionDate", "archivedDate",
    ]
    private static let loginProperties: Set = [
        "username", "password", "passwordRevisionDate", "uris", "totp", "autofillOnPageLoad",
        "fido2Credentials",
    ]
    /// What is in the table besides: what answers, requests and newer types add.
    private static let others: Set = [
        "object", "bankAccount", "driversLicense", "passport", "data", "partialData",
        "lastKnownRevisionDate", "encryptedFor", "encryptedByKeyId", "attachments2",
    ]

    @Test func `row 23, all 28 properties of an item are mapped and no others`() {
        let names = Set(Shape.item.members.map(\.name))
        #expect(Self.itemProperties.count == 28)
        #expect(names == Self.itemProperties.union(Self.others))
        #expect(names.count == Shape.item.members.count)
    }

    @Test func `row 24, all 7 properties of a login are mapped and no others`() {
        let names = Set(Shape.login.members.map(\.name))
        #expect(Self.loginProperties.count == 7)
        #expect(names == Self.loginProperties.union(["uri"]))
    }

    @Test func `what the API shows stands first in every shape`() {
        var shapes = [Shape.item]
        while let shape = shapes.popLast() {
            #expect(shape.shown.count == shape.members.filter { $0.uses.contains(.shown) }.count)
            for member in shape.members {
                switch member.kind {
                case .object(let inner), .list(let inner): shapes.append(inner)
                default: continue
                }
            }
        }
    }

    /// Every member of the table, at every level, with something in it: whoever adds a row must add
    /// a sample, and then sees it read, kept, copied and sent.
    @Test(arguments: Full.all)
    func `every member of the schema is sealed where it must be, and survives`(
        _ body: String
    ) throws {
        let item = try samples.item(body)
        let request = try JSON.Document(item.cipher.request()).root
        let own = try #require(item.type?.member)
        let backup = try item.cipher.backup(
            at: Samples.now,
            keys: samples.keys,
            entropy: samples.entropy
        )
        for (name, root) in [
            ("cipher", item.cipher.document.root), ("request", request),
            ("backup", backup.document.root),
        ] {
            let value = try #require(root[own])
            if case .object(let shape) = Shape.item.index(of: own).map({
                Shape.item.members[$0].kind
            }) {
                expectFull(value, shape, "\(name).\(own)")
            }
        }
        guard item.type == .login else { return }
        for name in ["fields", "passwordHistory"] {
            guard
                case .list(let shape) = Shape.item.index(of: name).map({
                    Shape.item.members[$0].kind
                })
            else { continue }
            expectFull(try #require(request[name]?[0]), shape, name)
        }
    }

    private func expectFull(_ value: JSON.Value, _ shape: Shape, _ place: String) {
        for member in shape.members where member.uses.isSuperset(of: [.sent, .shown]) {
            let place = "\(place).\(member.name)"
            guard let value = value[member.name] else {
                Issue.record("\(place) is missing.")
                continue
            }
            switch member.kind {
            case .sealed, .checksum, .key:
                #expect(
                    value.string.flatMap { try? EncString($0) }?.kind == .aesWithMAC,
                    "\(place)"
                )
            case .list(let shape):
                #expect(!value.elements.isEmpty, "\(place)")
                for element in value.elements { expectFull(element, shape, place) }
            case .object(let shape):
                expectFull(value, shape, place)
            case .text, .date, .flag, .number, .texts, .kept, .mirror:
                #expect(!value.isNull || ["linkedId", "match"].contains(member.name), "\(place)")
            }
        }
    }
}
