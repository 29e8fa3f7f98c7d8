import Crypto
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// R-008, R-080: what only its owner may see gets into no file and into no text that could be logged.
@Suite struct MarkerTests {
    private let chance = SeededChance(seed: 21)
    private let key: SymmetricKeyBytes
    private let keys: KeyRing

    /// Every place of an item that is encrypted holds one.
    private static let secrets = (0..<24).map { "planted-\($0)-Geheimnis-\(0x5eed + $0 * 7919)" }

    init() throws {
        let user = SymmetricKey(from: chance)
        key = SymmetricKeyBytes(user)
        keys = try KeyRing(user: user, account: WrappedKeys(privateKey: nil), entropy: chance)
    }

    private func body(_ round: Int) throws -> ItemBody {
        let secret = { (number: Int) in Self.secrets[(number + round) % Self.secrets.count] }
        return try ItemBody(
            Array(
                """
                {"type":1,"name":"\(secret(0))","notes":"\(secret(1))",
                 "fields":[{"name":"\(secret(2))","value":"\(secret(3))","type":1}],
                 "login":{"username":"\(secret(4))","password":"\(secret(5))","totp":"\(secret(6))",
                  "uris":[{"match":null,"uri":"https://\(secret(7))"}],
                  "fido2Credentials":[{"credentialId":"\(secret(8))","keyType":"\(secret(9))",
                   "keyAlgorithm":"\(secret(10))","keyCurve":"\(secret(11))",
                   "keyValue":"\(secret(12))","rpId":"\(secret(13))","userHandle":"\(secret(14))",
                   "userName":"\(secret(15))","counter":"1","rpName":"\(secret(16))",
                   "userDisplayName":"\(secret(17))","discoverable":"true",
                   "creationDate":"2025-01-02T03:04:05.678Z"}]},
                 "passwordHistory":[{"lastUsedDate":"2025-11-03T10:15:30.000Z",
                  "password":"\(secret(18))"}]}
                """.utf8
            )
        )
    }

    @Test func `planted secrets are in no file and in no text`() async throws {
        let scratch = try Scratch()
        var said = try await live(in: scratch)
        try await salvage(scratch, &said)
        try expectNoSecret(in: scratch, atLeast: [".damaged-", Store.copyName])
        #expect(said.count > 60)
        for text in said { #expect(find(in: Array(text.utf8)) == nil) }
    }

    private func live(in scratch: Scratch) async throws -> [String] {
        let shelf = try await Shelf(scratch)
        var said: [String] = []
        for round in 0..<6 { said += try await live(round, shelf) }
        try await shelf.store.copyPending()
        // While everything is open: the log and its index are there.
        try expectNoSecret(in: scratch, atLeast: ["-wal", "-shm", "lock", Store.copyName])
        said += await refusals(of: shelf)
        try await shelf.store.close()
        return said
    }

    /// An item that is made, sent, refused, edited, backed up, trashed and settled.
    ///
    /// - Returns: All that a careless log could say of it.
    private func live(_ round: Int, _ shelf: Shelf) async throws -> [String] {
        let lane = Shelf.lane("item-\(round)")
        let cipher = try Cipher(
            creating: body(round),
            id: lane.cipherID,
            at: Shelf.moment(round),
            keys: keys,
            entropy: chance
        )
        let item = Item(cipher, keys: keys)
        let edited = try item.edited(
            by: body(round + 1),
            at: Shelf.moment(round),
            keys: keys,
            entropy: chance
        )
        let backup = try cipher.backup(at: Shelf.moment(1), keys: keys, entropy: chance)
        var said: [String] = []
        try await shelf.store.putBase(
            BaseCipher(
                lane: lane,
                revision: Revision(text: "then", moment: Shelf.moment(1)),
                json: cipher.bytes
            )
        )
        for version in [edited.cipher, backup] {
            let snapshot = Snapshot(
                json: version.request(),
                keyFingerprint: Array(keys.user.keyID.description.utf8)
            )
            let wish = Edit.Wish.update(snapshot, changesPassword: true)
            let attempt = Attempt(.update, at: Shelf.moment(2))
            let recorded = try await shelf.record(wish, lane.cipherID, as: .inFlight(attempt)).made
            let swap = try await shelf.store.queue(
                recorded.change.id,
                expecting: recorded.change.version,
                at: Shelf.moment(3)
            ) {
                $0.backup = BackupNote(
                    source: Revision(text: "then", moment: Shelf.moment(1)),
                    json: backup.bytes
                )
                $0.lastFailure = FailureNote(kind: .rejected, message: "400")
            }
            said += texts(of: recorded) + texts(of: swap)
        }
        said += texts(of: item) + texts(of: cipher) + texts(of: edited) + texts(of: backup)
        return said + texts(of: keys) + texts(of: keys.user)
    }

    /// What the rooms say when they refuse.
    private func refusals(of shelf: Shelf) async -> [String] {
        var said: [String] = []
        func note(_ body: () async throws -> Void) async {
            do {
                try await body()
                Issue.record("It was taken.")
            } catch {
                said += texts(of: error)
            }
        }
        for secret in Self.secrets {
            await note { _ = try keys.user.open(secret) }
            await note { _ = try SymmetricKey(base64: secret) }
            await note { _ = try ItemBody(Array(#"{"type":"\#(secret)"}"#.utf8)) }
            await note { _ = try Cipher(Array(secret.utf8)) }
            await note {
                try await shelf.byHand("INSERT INTO setting VALUES (?, NULL)", .text(secret))
            }
        }
        return said
    }

    private func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    private func salvage(_ scratch: Scratch, _ said: inout [String]) async throws {
        let path = scratch.file(Store.fileName)
        let descriptor = open(path, O_WRONLY)
        #expect(pwrite(descriptor, [UInt8](repeating: 0xa5, count: 4_096), 4_096, 0) == 4_096)
        close(descriptor)
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: chance
        )
        guard case .salvaged(6, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        said += texts(of: condition) + texts(of: store)
        try await store.close()
    }

    private func expectNoSecret(in scratch: Scratch, atLeast names: [String]) throws {
        let files = try scratch.files()
        for name in names { #expect(files.contains { $0.contains(name) }, "\(name) of \(files)") }
        for file in files {
            let found = find(in: try Files.read(scratch.file(file)))
            #expect(found == nil, "\(file) holds \(found ?? "")")
        }
    }

    /// A secret or a key in the bytes, as it is or in one of the usual spellings.
    private func find(in bytes: [UInt8]) -> String? {
        for secret in Self.secrets {
            let spellings = [Array(secret.utf8)] + [hex(Array(secret.utf8)), base64(secret)]
            if spellings.contains(where: { bytes.contains($0) }) { return secret }
        }
        let spellings = [key.bytes, hex(key.bytes), Array(Base64.text(of: key.bytes).utf8)]
        return spellings.contains { bytes.contains($0) } ? "the key" : nil
    }

    private func hex(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined().utf8)
    }

    private func base64(_ text: String) -> [UInt8] {
        let whole = text.utf8.count / 3 * 3
        return Array(Base64.text(of: Array(text.utf8.prefix(whole))).utf8)
    }
}

/// The key's bytes, to be looked for.
private struct SymmetricKeyBytes {
    let bytes: [UInt8]

    init(_ key: borrowing SymmetricKey) {
        bytes = key.withUnsafeBytes { Array($0) }
    }
}

extension [UInt8] {
    fileprivate func contains(_ pattern: [UInt8]) -> Bool {
        withUnsafeBytes { text in
            pattern.withUnsafeBytes { pattern in
                guard let first = pattern.first, text.count >= pattern.count else { return false }
                var start = 0
                while start <= text.count - pattern.count,
                    let found = memchr(text.baseAddress! + start, Int32(first), text.count - start)
                {
                    start = UnsafeRawPointer(found) - UnsafeRawPointer(text.baseAddress!)
                    guard start <= text.count - pattern.count else { return false }
                    if memcmp(found, pattern.baseAddress!, pattern.count) == 0 { return true }
                    start += 1
                }
                return false
            }
        }
    }
}

extension Scratch {
    fileprivate func files() throws -> [String] {
        let directory = try #require(opendir(path))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
