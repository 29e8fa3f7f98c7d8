import Glibc
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// What `holdfast verify` finds that the store alone does not understand.
struct StateCheckTests {
    private static let id = "00000000-0000-4000-8000-000000000001"

    /// What is found in the state of a host with one account, after some harm was done to it.
    private static func checked(
        isSealed: Bool = true,
        _ harm: (Store, StateDirectory) async throws -> Void = { _, _ in }
    ) async throws -> Verification {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let directory = try StateDirectory(scratch.path)
        let (store, _) = try await Store.open(
            in: directory,
            time: SystemTimekeeper(),
            chance: SystemChance()
        )
        let key = try HostKey(at: directory.file("host.key"))
        try await store.put(try record(sealedBy: isSealed ? key : nil).stored)
        try await harm(store, directory)
        let running = try await StateCheck.verify(store, in: directory)
        try await store.close()
        let isThere = access(directory.file("host.key"), F_OK) == 0
        let stopped = try await StateCheck.verify(directory)
        #expect(stopped.problems == running.problems)
        #expect((access(directory.file("host.key"), F_OK) == 0) == isThere, "It only looks.")
        return stopped
    }

    private static func record(sealedBy key: HostKey?) throws -> AccountRecord {
        var record = AccountRecord(id: id, email: "ada@example.test", server: "http://127.0.0.1:9")
        let tokens = Tokens(
            userID: id,
            access: "token",
            expires: Moment(ticks: 1),
            renewal: .none
        )
        record.sealedTokens = try key?.seal(tokens)
        return record
    }

    @Test func `a state with an account and the key is whole`() async throws {
        let verification = try await Self.checked()
        #expect(verification.isWhole && verification.accounts == 1, "\(verification.problems)")
    }

    @Test(arguments: ["in the clear", "[]", "{}", #"{"id":"in the clear"}"#])
    func `a record that says of no account is found, and not shown`(_ text: String) async throws {
        let verification = try await Self.checked { store, _ in
            try await store.put(StoredAccount(id: Self.id, record: Array(text.utf8)))
        }
        #expect(verification.problems.map(\.check) == [.records])
        let texts = ["The record of account \(Self.id) cannot be read."]
        #expect(verification.problems.map(\.text) == texts)
    }

    @Test func `a key that is gone is found where something is sealed with it`() async throws {
        let harm: (Store, StateDirectory) async throws -> Void = { _, directory in
            unlink(directory.file("host.key"))
        }
        let verification = try await Self.checked(harm)
        #expect(verification.problems.map(\.check) == [.records])
        #expect(verification.problems.first?.text.contains("host.key is not there") == true)
        #expect(try await Self.checked(isSealed: false, harm).isWhole)
    }

    @Test(arguments: ["no tokens", "{}", #"{"tokens":[{"id":7}]}"#])
    func `tokens that the next start could not read are found`(_ text: String) async throws {
        let verification = try await Self.checked { _, directory in
            try Files.replace(directory.file("tokens.json"), with: Array(text.utf8))
        }
        #expect(verification.problems.map(\.check) == [.records])
        #expect(verification.problems.first?.text.contains("tokens.json cannot be read") == true)
    }

    @Test func `tokens that are in order are, and so is a copy of what is pending`() async throws {
        let verification = try await Self.checked { store, directory in
            _ = try TokenCabinet(state: directory.path, timekeeper: SystemTimekeeper())
            #expect(try await store.copyPending())
            #expect(access(directory.file("pending-copy.db"), F_OK) == 0)
        }
        #expect(verification.isWhole, "\(verification.problems)")
    }

    @Test func `a copy that could not be used is found`() async throws {
        let garbage = try await Self.checked { _, directory in
            let bytes = Array("no database at all".utf8)
            try Files.replace(directory.file("pending-copy.db"), with: bytes)
        }
        #expect(garbage.problems.map(\.check) == [.records])
        #expect(garbage.problems.first?.text.contains("pending-copy.db is no database") == true)
        let folder = try await Self.checked { _, directory in
            try Files.makePrivateDirectory(directory.file("pending-copy.db"))
        }
        #expect(folder.problems.first?.text.contains("cannot be read") == true)
    }

    @Test func `a copy that a newer program wrote is found before it keeps a host from starting`()
        async throws
    {
        let newer = Store.schemaVersion + 1
        let verification = try await Self.checked { store, directory in
            try await store.copyPending()
            var bytes = try Files.read(directory.file("pending-copy.db"))
            bytes.replaceSubrange(60..<64, with: [0, 0, 0, UInt8(newer)])
            try Files.replace(directory.file("pending-copy.db"), with: bytes)
        }
        #expect(verification.problems.map(\.check) == [.records])
        let text = "(its schema has version \(newer), this one knows \(newer - 1))"
        #expect(verification.problems.first?.text.contains(text) == true)
    }

    @Test func `a key that is none is found`() async throws {
        let verification = try await Self.checked { _, directory in
            try Files.replace(directory.file("host.key"), with: Array("no key".utf8))
        }
        #expect(verification.problems.map(\.check) == [.records])
        #expect(verification.problems.first?.text.contains("host.key is no key") == true)
    }

    @Test func `a key that has sealed nothing of what is kept is found`() async throws {
        let harm: (Store, StateDirectory) async throws -> Void = { _, directory in
            unlink(directory.file("host.key"))
            _ = try HostKey(at: directory.file("host.key"))
        }
        let verification = try await Self.checked(harm)
        #expect(verification.problems.map(\.check) == [.records])
        let text = "host.key has not sealed what is kept of the session of 1 of the accounts"
        #expect(verification.problems.first?.text.contains(text) == true)
        #expect(try await Self.checked(isSealed: false, harm).isWhole)
    }
}
