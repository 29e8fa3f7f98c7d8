import Crypto
import Glibc
import JSON
import Testing

@testable import Vault

@Suite struct ItemsCopyingTests {
    let samples: Samples

    init() throws { samples = try Samples() }

    private func backup(_ cipher: Cipher) throws -> Cipher {
        try cipher.backup(at: Samples.now, keys: samples.keys, entropy: samples.entropy)
    }

    /// A login as a server has it: with files, in a folder, and with members invented later.
    private func source(ownKey: Bool = true) throws -> Cipher {
        let cipher = try samples.cipher(Full.login, ownKey: ownKey)
        let sealer = try cipher.sealer(in: samples.keys)
        let (fileName, key) = (
            try sealer.seal("key.pem"), try sealer.wrap(SymmetricKey(from: samples.entropy))
        )
        var edit = JSON.Edit(cipher.document)
        edit.put(
            .array {
                $0.object {
                    $0.add("id", "file")
                    $0.add("fileName", fileName)
                    $0.add("key", key)
                }
            },
            at: "attachments"
        )
        edit.put(7, at: "inventedLater")
        try edit.set(["login", "inventedToo"], to: "x")
        try edit.set(["login", "autofillOnPageLoad"], to: true)
        try edit.set(["fields", 0, "inventedHere"], to: 1)
        return Cipher(edit)
    }

    @Test func `row 15, an item without an id gets one`() throws {
        let cipher = try samples.cipher(Full.login, id: nil)
        #expect(cipher.id == nil)
        #expect(cipher.withID("new").id == "new")
    }

    @Test func `row 16, an id changes nothing else`() throws {
        let cipher = try source()
        let other = cipher.withID("another")
        var before = try Samples.leaves(cipher.bytes)
        before[".id"] = "\"another\""
        #expect(try Samples.leaves(other.bytes) == before)
    }

    @Test func `row 17, an id that is there is replaced`() throws {
        let cipher = try source()
        #expect(cipher.withID("two").id == "two")
        #expect(cipher.withID("two").withID("one") == cipher)
        let pascal = try Cipher(Array(#"{"Id":"a","Type":2}"#.utf8)).withID("b")
        #expect(pascal.id == "b" && pascal.document.root["Id"] == nil)
    }

    @Test func `row 18, R-119 a backup has a new name and the old folder`() throws {
        let cipher = try source()
        let backup = try backup(cipher)
        let item = Item(backup, keys: samples.keys)
        #expect(item.name == "Build server - 2026-01-11 07:12:44")
        #expect(backup.folderID == cipher.folderID && backup.folderID != nil)
    }

    @Test func `row 19, a backup has no id`() throws {
        #expect(try backup(source()).id == nil)
    }

    @Test(arguments: [true, false])
    func `row 20, R-118 a backup is under a fresh key`(ownKey: Bool) throws {
        let cipher = try source(ownKey: ownKey)
        let backup = try backup(cipher)
        #expect(backup.key != nil && backup.key != cipher.key)
        #expect(try backup.sealer(in: samples.keys).keyID != cipher.sealer(in: samples.keys).keyID)
    }

    @Test func `row 21, a backup has no files`() throws {
        #expect(try source().attachmentIDs == ["file"])
        #expect(try backup(source()).attachmentIDs.isEmpty)
    }

    @Test func `row 22, R-085 a backup has the history in its order`() throws {
        let history = Item(try backup(source()), keys: samples.keys).passwordHistory
        #expect(history.map(\.password) == ["old-one", "older"])
        #expect(
            history.map(\.lastUsedDate) == ["2025-11-03T10:15:30.000Z", "2025-10-03T10:15:30.000Z"]
        )
    }

    @Test(arguments: [true, false])
    func `R-122, T-51 a backup is in all else as its source`(ownKey: Bool) throws {
        let source = try source(ownKey: ownKey)
        let backup = try backup(source)
        var before = try Samples.leaves(Array(JSON.Raw(Item(source, keys: samples.keys)).bytes))
        var after = try Samples.leaves(Array(JSON.Raw(Item(backup, keys: samples.keys)).bytes))
        for name in [".id", ".name", ".archivedDate"] {
            before[name] = nil
            after[name] = nil
        }
        before = before.filter { !$0.key.hasPrefix(".attachments") }
        #expect(after == before)
        #expect(before[".login.fido2Credentials[0].keyValue"] == "\"MIGH\"")
        #expect(backup["inventedLater"]?.int == 7)
        #expect(backup["login"]?["inventedToo"]?.string == "x")
        #expect(backup["login"]?["autofillOnPageLoad"]?.bool == true)
        #expect(backup.document.root["fields"]?[0]?["inventedHere"]?.int == 1)
    }

    @Test func `T-59, T-60 a backup is personal, in no trash and in no archive`() throws {
        var edit = JSON.Edit(try source().document)
        edit.put("2026-01-10T00:00:00.000000Z", at: "deletedDate")
        edit.put(JSON.Raw(["c"]), at: "collectionIds")
        edit.put(false, at: "edit")
        edit.put("{}", at: "data")
        let backup = try backup(Cipher(edit))
        #expect(backup.organizationID == nil && backup.collectionIDs.isEmpty)
        #expect(!backup.isInTrash && backup.archivedDate == nil && backup["edit"]?.bool != false)
        #expect(backup["data"] == nil)
    }

    @Test func `T-60, R-119 a stamp that a name has already is replaced`() {
        let once = BackupName.of("mail", at: Samples.now)
        #expect(once == "mail - 2026-01-11 07:12:44")
        #expect(
            BackupName.of(once, at: Samples.now.advanced(bySeconds: 1))
                == "mail - 2026-01-11 07:12:45"
        )
        #expect(BackupName.of("", at: Samples.now) == " - 2026-01-11 07:12:44")
        #expect(
            BackupName.of("mail - 2026-01-11", at: Samples.now).hasPrefix("mail - 2026-01-11 - ")
        )
        #expect(BackupName.of("x", at: Moment(ticks: 0)) == "x - 1970-01-01 00:00:00")
        #expect(BackupName.of("x", at: Moment(ticks: -1)) == "x - 1969-12-31 23:59:59")
    }

    @Test(arguments: ["Asia/Kolkata", "America/St_Johns", "Pacific/Auckland"])
    func `R-120, T-66, G-U4 a stamp is the same whatever the zone and the language`(_ zone: String)
    {
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", zone, 1)
        tzset()
        let language = setlocale(LC_ALL, nil).map { String(cString: $0) }
        setlocale(LC_ALL, "th_TH.UTF-8")
        defer {
            if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
            tzset()
            setlocale(LC_ALL, language)
        }
        #expect(BackupName.of("mail", at: Samples.now) == "mail - 2026-01-11 07:12:44")
    }

    @Test(arguments: ["x", "é", "👩‍👩‍👧‍👦", "e\u{301}\u{323}"])
    func `T-49 a long name is cut between characters so that it fits`(_ character: String) throws {
        let name = String(repeating: character, count: 800)
        let backup = BackupName.of(name, at: Samples.now)
        #expect(backup.utf8.count <= 687)
        #expect(Sealer.textCount(sealing: backup.utf8.count) <= 1000)
        let base = backup.dropLast(22)
        #expect(base.allSatisfy { String($0) == character })
        #expect(base.utf8.count > 665 - character.utf8.count)
    }

    @Test func `T-52 a version under an older key is brought under upstream's`() throws {
        let mine = try source(ownKey: false)
        let theirs = try source(ownKey: true).withID("one")
        for (one, other) in [(mine, theirs), (theirs, mine)] {
            let resealed = try one.resealed(
                like: other,
                keys: samples.keys,
                entropy: samples.entropy
            )
            #expect(resealed.key == other.key)
            #expect(resealed["attachments"]?.raw == other["attachments"]?.raw)
            let file = try #require(resealed["attachments"]?[0])
            let sealer = try resealed.sealer(in: samples.keys)
            #expect(try sealer.open(#require(file["fileName"]?.string)) == "key.pem")
            #expect(
                Samples.text(Item(resealed, keys: samples.keys))
                    == Samples.text(Item(one, keys: samples.keys))
            )
            #expect(resealed["inventedLater"]?.int == 7)
            #expect(Item(resealed, keys: samples.keys).flaws.isEmpty)
        }
        #expect(try mine.resealed(like: mine, keys: samples.keys, entropy: samples.entropy) == mine)
    }

    /// Adds members that nobody here knows, with encrypted texts in them.
    private func inventing(_ cipher: Cipher, _ text: String) throws -> Cipher {
        var edit = JSON.Edit(cipher.document)
        edit.put(JSON.Raw(text), at: "inventedText")
        edit.put(
            .object { $0.array("list") { $0.object { $0.add("deep", text) } } },
            at: "inventedObject"
        )
        try edit.set(["login", "inventedLater"], to: JSON.Raw(text))
        edit.put("2.not|an|enc", at: "inventedPlain")
        return Cipher(edit)
    }

    private func invented(in cipher: Cipher) -> [String?] {
        [
            cipher["inventedText"]?.string,
            cipher["inventedObject"]?["list"]?[0]?["deep"]?.string,
            cipher["login"]?["inventedLater"]?.string,
        ]
    }

    @Test func `T-56 encrypted texts in unknown members go along to the other key`() throws {
        let old = try source(ownKey: false)
        let mine = try inventing(old, old.sealer(in: samples.keys).seal("secret"))
        let theirs = try source(ownKey: true)
        let new = try Samples(seed: 2)
        for (copy, keys) in [
            (try backup(mine), samples.keys),
            (
                try mine.resealed(like: theirs, keys: samples.keys, entropy: samples.entropy),
                samples.keys
            ),
            (try mine.resealed(from: samples.keys, to: new.keys), new.keys),
        ] {
            let sealer = try copy.sealer(in: keys)
            for text in invented(in: copy) {
                #expect(try sealer.open(#require(text)) == "secret")
            }
            #expect(copy["inventedPlain"]?.string == "2.not|an|enc")
        }
    }

    @Test func `an unknown member that the old key does not open refuses the copy`() throws {
        let foreign = try Samples(seed: 3).keys.user.seal("secret")
        let cipher = try inventing(source(), foreign)
        #expect(throws: Flaw(.sealed(.notAuthentic), at: ["login", "inventedLater"])) {
            try backup(cipher)
        }
    }

    @Test(arguments: [true, false])
    func `an item survives that the account's key is changed`(ownKey: Bool) throws {
        let new = try Samples(seed: 2)
        let cipher = try source(ownKey: ownKey)
        let moved = try cipher.resealed(from: samples.keys, to: new.keys)
        #expect(
            Samples.text(Item(moved, keys: new.keys))
                == Samples.text(Item(cipher, keys: samples.keys))
        )
        #expect(!Item(moved, keys: samples.keys).flaws.isEmpty)
        let before = try Samples.leaves(cipher.bytes)
        let after = try Samples.leaves(moved.bytes)
        let changed = after.filter { before[$0.key] != $0.value }.keys.sorted()
        if ownKey { #expect(changed == [".key"]) }
    }
}
