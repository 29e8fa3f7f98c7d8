import Crypto
import JSON
import System
import Testing

@testable import Vault

/// Items that belong to organisations, under the keys that those share.
@Suite struct ItemsOrganizationTests {
    private let chance = SeededChance(seed: 11)
    private let keys: KeyRing
    /// Made once; it takes long.
    private static let rsa = try! PrivateKey().pkcs8().revealedBytes()

    /// A member of two organisations, of which one has a key that cannot be unwrapped.
    init() throws {
        let user = SymmetricKey(from: chance)
        let rsa = try PrivateKey(pkcs8: Secret(Self.rsa))
        let account = WrappedKeys(
            privateKey: try Sealer(user.duplicate(), entropy: chance).seal(rsa.pkcs8()),
            organizations: [
                "org": try PublicKey(rsa.publicKey()).wrap(SymmetricKey(from: chance)),
                "broken": "4.AAAA",
            ]
        )
        keys = try KeyRing(user: user, account: account, entropy: chance)
    }

    private func cipher(in organization: String?, ownKey: Bool) throws -> Cipher {
        let owner = organization.map { "\"\($0)\"" } ?? "null"
        let body = Full.login.replacing(
            #""organizationId":null"#,
            with: #""organizationId":\#(owner),"collectionIds":["c1"]"#
        )
        return try Cipher(
            creating: ItemBody(Array(body.utf8)),
            id: "one",
            hasOwnKey: ownKey,
            at: Samples.now,
            keys: keys,
            entropy: chance
        )
    }

    @Test(arguments: [false, true])
    func `an organisation's item opens under its key and under no other`(_ ownKey: Bool) throws {
        let cipher = try cipher(in: "org", ownKey: ownKey)
        let item = Item(cipher, keys: keys)
        #expect(item.flaws.isEmpty && item.login?.password == "c0rrect-horse")
        #expect(cipher.collectionIDs == ["c1"])
        var edit = JSON.Edit(cipher.document)
        edit.put(.null, at: "organizationId")
        let stolen = Item(Cipher(edit), keys: keys)
        #expect(!stolen.flaws.isEmpty && stolen.login?.password == nil)
    }

    @Test(arguments: [false, true])
    func `an edit stays under the organisation's key`(_ ownKey: Bool) throws {
        let item = Item(try cipher(in: "org", ownKey: ownKey), keys: keys)
        let edited = try item.edited(
            by: ItemBody(Array(#"{"name":"n","login":{"password":"new"}}"#.utf8)),
            at: Samples.now,
            keys: keys,
            entropy: chance
        ).cipher
        let after = Item(edited, keys: keys)
        #expect(after.flaws.isEmpty && after.login?.password == "new")
        #expect(edited.organizationID == "org" && edited.key == item.cipher.key)
        let account = try KeyRing(user: userKey(), account: WrappedKeys(privateKey: nil))
        #expect(Item(edited, keys: account).flaws.map(\.reason) == [.noOrganizationKey])
    }

    @Test func `collections are added to`() throws {
        var edit = JSON.Edit(try cipher(in: "org", ownKey: true).document)
        edit.put(JSON.Raw(["a", "b"]), at: "collectionIds")
        let edited = try Item(Cipher(edit), keys: keys).edited(
            by: ItemBody(Array(#"{"name":"n","collectionIds":["c","a"]}"#.utf8)),
            at: Samples.now,
            keys: keys,
            entropy: chance
        ).cipher
        #expect(edited.collectionIDs == ["a", "b", "c"])
    }

    private func userKey() -> SymmetricKey { SymmetricKey(from: SeededChance(seed: 11)) }

    @Test func `T-59 a backup of an organisation's item is the user's own`() throws {
        let cipher = try cipher(in: "org", ownKey: true)
        let backup = try cipher.backup(at: Samples.now, keys: keys, entropy: chance)
        #expect(backup.organizationID == nil && backup.collectionIDs.isEmpty)
        // Nothing but the user's own key is needed for it.
        let alone = try KeyRing(user: userKey(), account: WrappedKeys(privateKey: nil))
        let item = Item(backup, keys: alone)
        #expect(item.flaws.isEmpty && item.login?.password == "c0rrect-horse")
    }

    @Test func `an organisation whose key is lost spoils its own items only`() throws {
        var edit = JSON.Edit(try cipher(in: "org", ownKey: false).document)
        edit.put(JSON.Raw("broken"), at: "organizationId")
        let lost = Item(Cipher(edit), keys: keys)
        #expect(lost.flaws == [Flaw(.noOrganizationKey, at: ["organizationId"])])
        #expect(Samples.text(lost).contains(Item.unreadableName))
        #expect(Item(try cipher(in: "org", ownKey: false), keys: keys).flaws.isEmpty)
        #expect(Item(try cipher(in: nil, ownKey: true), keys: keys).flaws.isEmpty)
        #expect(throws: EditRefusal.self) { try cipher(in: "nobody", ownKey: true) }
    }

    @Test(arguments: [false, true])
    func `an item that moved into an organisation is sealed for it`(_ ownKey: Bool) throws {
        let mine = try cipher(in: nil, ownKey: true)
        let theirs = try cipher(in: "org", ownKey: ownKey)
        let moved = try mine.resealed(like: theirs, keys: keys, entropy: chance)
        #expect(moved.organizationID == "org" && moved.key == theirs.key)
        #expect(Item(moved, keys: keys).flaws.isEmpty)
    }
}
