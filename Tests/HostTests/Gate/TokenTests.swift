import Crypto
import Glibc
import System
import TestSupport
import Testing

@testable import Host

struct TokenTests {
    private let scratch: Scratch
    private var path: String { scratch.file("tokens.json") }

    init() throws { scratch = try Scratch() }

    private func open() throws -> TokenCabinet {
        try TokenCabinet(state: scratch.path, timekeeper: SystemTimekeeper())
    }

    private var adminText: String {
        get throws {
            let text = String(decoding: try Files.read(scratch.file("admin.token")), as: UTF8.self)
            return String(text.dropLast())
        }
    }

    @Test func `the first start leaves a token for everything, for its owner only`() throws {
        let cabinet = try open()
        let text = try adminText
        #expect(text.hasPrefix("hf_") && text.utf8.count == 46)
        #expect(cabinet.token(for: text)?.scope == .admin)
        #expect(cabinet.token(for: text)?.accountID == nil)
        for name in ["admin.token", "tokens.json"] {
            var status = stat()
            #expect(stat(scratch.file(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func `what is kept does not hold the text of any token`() async throws {
        let cabinet = try open()
        let fresh = try await cabinet.create(.read, accountID: "a")
        let kept = String(decoding: try Files.read(path), as: UTF8.self)
        let admin = try adminText
        #expect(!kept.contains(fresh.text) && !kept.contains(admin))
        #expect(kept.contains(Digest.sha256(Array(fresh.text.utf8)).hex))
    }

    @Test func `tokens outlive the host, and a second start makes no other`() async throws {
        let fresh = try await open().create(.write, accountID: "a")
        let text = try adminText
        let again = try open()
        #expect(try adminText == text)
        #expect(again.token(for: fresh.text)?.id == fresh.token.id)
        #expect(again.token(for: fresh.text)?.caller == Caller(.write, accountID: "a"))
        #expect(again.token(for: text)?.scope == .admin)
        #expect(again.all.count == 2)
    }

    @Test func `no other token is made while the disk with the tokens is away`() throws {
        let text = try (open(), adminText).1
        let there = scratch.file("there")
        #expect(rename(path, there) == 0 && symlink(there, path) == 0)
        #expect(rename(there, there + ".away") == 0)
        #expect(throws: TokenError.self) { try open() }
        #expect(rename(there + ".away", there) == 0)
        #expect(try open().token(for: text)?.scope == .admin)
        #expect(try adminText == text)
    }

    @Test func `a pipe in the place of the tokens is refused and not waited for`() throws {
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: TokenError.self) { try open() }
    }

    @Test func `a token that was taken back opens nothing, after a new start as well`() async throws
    {
        let cabinet = try open()
        let fresh = try await cabinet.create(.admin, accountID: nil)
        #expect(try await cabinet.revoke(fresh.token.id))
        #expect(cabinet.token(for: fresh.text) == nil)
        #expect(try open().token(for: fresh.text) == nil)
        #expect(try await !cabinet.revoke(fresh.token.id))
    }

    @Test func `what differs in a single letter is another token`() async throws {
        let cabinet = try open()
        let text = try await cabinet.create(.admin, accountID: nil).text
        for wrong in [
            "", "hf_", text + "x", String(text.dropLast()), " " + text, text.uppercased(),
        ] {
            #expect(cabinet.token(for: wrong) == nil)
        }
    }

    @Test func `an operator's change of the file counts once it is read again`() async throws {
        let cabinet = try open()
        let text = try adminText
        try Files.replace(path, with: Array(#"{"tokens":[]}"#.utf8))
        #expect(cabinet.token(for: text) != nil)
        try await cabinet.reload()
        #expect(cabinet.token(for: text) == nil)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"tokens":[{"id":"a"}]}"#,
        #"{"tokens":[{"id":"a","scope":"king","created":"2026-01-01T00:00:00Z","sha256":""}]}"#,
        #"{"tokens":[{"id":"a","scope":"read","created":"2026-01-01T00:00:00Z","sha256":"ab"}]}"#,
    ])
    func `a damaged file is said to be one, and nobody is let in instead`(_ text: String)
        async throws
    {
        let cabinet = try open()
        let count = cabinet.all.count
        try Files.replace(path, with: Array(text.utf8))
        #expect(throws: TokenError.self) { try open() }
        await #expect(throws: TokenError.self) { try await cabinet.reload() }
        #expect(cabinet.all.count == count)
    }

    @Test func `a token that could not be written down does not count`() async throws {
        let cabinet = try open()
        #expect(mkdir(path + ".draft", 0o700) == 0)
        await #expect(throws: TokenError.self) {
            try await cabinet.create(.admin, accountID: nil)
        }
        #expect(cabinet.all.count == 1)
    }
}
