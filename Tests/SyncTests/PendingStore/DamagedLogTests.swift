import SQLite
import System
import TestSupport
import Testing

@testable import Sync

/// Acknowledged edits behind a flipped bit in the log.
@Suite struct DamagedLogTests {
    /// What a killed host leaves, with a bit of the log's first page flipped.
    private static func leave(in scratch: Scratch) async throws -> [UInt8] {
        let whole = try Scratch()
        let shelf = try await Shelf(whole)
        try await shelf.store.database.checkpoint()
        for number in 0..<5 { try await shelf.add("\(number)") }
        let (file, log) = (Store.fileName, Store.fileName + "-wal")
        var bytes = try Files.read(whole.file(log))
        bytes[32 + 24 + 200] ^= 1
        try Files.replace(scratch.file(file), with: try Files.read(whole.file(file)))
        try Files.replace(scratch.file(log), with: bytes)
        return bytes
    }

    @Test func `whoever verifies is told of a damaged log, and leaves it as it is`() async throws {
        let scratch = try Scratch()
        let log = try await Self.leave(in: scratch)
        for _ in 0..<2 {
            let verification = try await Store.verify(
                StateDirectory(scratch.path),
                accounts: { _ in [] }
            )
            #expect(verification.problems.map(\.check) == [.database])
            #expect(verification.problems.first?.text.contains("log is damaged") == true)
            #expect(try Files.read(scratch.file(Store.fileName + "-wal")) == log)
        }
    }

    @Test func `a start says that the log was damaged, and keeps it as it was`() async throws {
        let scratch = try Scratch()
        let log = try await Self.leave(in: scratch)
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 1)
        )
        guard case .cutShort(let path, changes: 0) = condition else {
            Issue.record("\(condition)")
            return
        }
        #expect(try Files.read(path) == log)
        // It may have rows of every account.
        guard case .erased(_, let left) = try await store.erase(Shelf.user) else {
            Issue.record("nothing was erased")
            return
        }
        #expect(left == [path])
        try await store.close()
    }
}
