import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// Receipts that cannot be read, or whose change cannot: nobody is told anything untrue, and none is
/// dropped.
@Suite struct ReceiptTests {
    /// After every receipt of a test.
    private static let later = Shelf.moment(1_000_000)

    /// As if a damaged page or a later program had put something else in its place.
    private func loosened() async throws -> (shelf: Shelf, receipt: String) {
        let shelf = try await Shelf()
        let recorded = try await shelf.add("a")
        try await shelf.discard("a")
        try await shelf.store.database.write { (db) throws(DatabaseError) in
            try db.execute(
                script: """
                    ALTER TABLE receipt RENAME TO strict_receipt;
                    CREATE TABLE receipt (id PRIMARY KEY, user_id, pending_id, cipher_id, status,
                        result_cipher_id, backup_cipher_id, queued_ticks, sent_ticks,
                        observed_ticks, ended_ticks);
                    INSERT INTO receipt SELECT * FROM strict_receipt;
                    """
            )
        }
        return (shelf, try #require(recorded.receiptID))
    }

    @Test(
        arguments: [
            "UPDATE receipt SET status = 'deferred'", "UPDATE receipt SET status = ''",
            "UPDATE receipt SET status = NULL", "UPDATE receipt SET status = 7",
            "UPDATE receipt SET status = x'00', queued_ticks = NULL",
            "UPDATE receipt SET pending_id = x'ff', cipher_id = NULL, status = 'queued'",
            "UPDATE receipt SET queued_ticks = 'soon'",
            "UPDATE receipt SET ended_ticks = 'late', status = 'quarantined'",
        ] as [StaticString]
    )
    func `a damaged or newer receipt is quarantined and stays`(_ damage: StaticString) async throws
    {
        let (shelf, id) = try await loosened()
        let reader = shelf.store.reader
        #expect(try reader.receipt(id, of: Shelf.user)?.status == .discarded)
        try await shelf.byHand(damage)
        let receipt = try #require(try reader.receipt(id, of: Shelf.user))
        #expect(receipt.status == .quarantined && receipt.id == id)
        try await shelf.store.observe([id], at: Shelf.moment(5))
        try await shelf.store.forgetReceipts(before: Self.later)
        #expect(try reader.receipt(id, of: Shelf.user)?.status == .quarantined)
        try await shelf.store.close()
    }

    @Test func `the receipt of a change that is set aside says so, until that is tried again`()
        async throws
    {
        let shelf = try await Shelf()
        let recorded = try await shelf.edit("a")
        let (change, id) = (recorded.change, try #require(recorded.receiptID))
        func status() throws -> Receipt.Status? {
            try shelf.store.reader.receipt(id, of: Shelf.user)?.status
        }
        #expect(try status() == .queued)
        _ = try await shelf.store.update(change.id, expecting: 1) { $0.state = .quarantined }
        #expect(try status() == .quarantined)
        try await shelf.store.forgetReceipts(before: Self.later)
        _ = try await shelf.store.update(change.id, expecting: 2) { $0.state = .ready }
        #expect(try status() == .queued)

        try await shelf.byHand("UPDATE pending_change SET record = x'00'")
        #expect(try await shelf.store.quarantineUnreadable(change.id, expecting: 3))
        #expect(try status() == .quarantined)
        // Only damage takes a change away and leaves its receipt waiting.
        try await shelf.byHand("DELETE FROM pending_change")
        #expect(try status() == .quarantined)
        try await shelf.store.close()
    }

    private static let count = 400

    @Test func `a salvage brings the receipts along, from both sides of the damage`() async throws {
        let scratch = try Scratch()
        let receipts = try await Self.filled(scratch)
        let sorted = receipts.sorted()
        try Self.overwritePage(
            of: scratch.file(Store.fileName),
            with: sorted[Self.count / 2]
        )
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 3)
        )
        #expect(condition != .whole)
        let found = try receipts.map { try store.reader.receipt($0, of: Shelf.user)?.status }
        let lost = found.count { $0 == nil }
        #expect(lost > 0 && lost < Self.count / 8, "\(lost) are lost")
        for (number, status) in found.enumerated() where status != nil {
            let isNewer = receipts[number] == sorted[0]
            let sound: Receipt.Status = number % 2 == 0 ? .discarded : .queued
            #expect(status == (isNewer ? .quarantined : sound), "\(number)")
        }
        for id in [sorted[0], sorted[Self.count - 1]] {
            #expect(try store.reader.receipt(id, of: Shelf.user) != nil)
        }
        try await store.close()
    }

    @Test func `of a change that damage has taken, the receipt ends with what is carried over`()
        async throws
    {
        let scratch = try Scratch()
        let receipts = try await Self.filled(scratch, losing: "item-1")
        try Self.overwritePage(
            of: scratch.file(Store.fileName),
            with: receipts.sorted()[Self.count / 2]
        )
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 3)
        )
        #expect(condition != .whole)
        let lost = try #require(try store.reader.receipt(receipts[1], of: Shelf.user))
        #expect(lost.status == .quarantined && lost.ended != nil && lost.sent == nil)
        let kept = try #require(try store.reader.receipt(receipts[3], of: Shelf.user))
        #expect(kept.status == .queued && kept.ended == nil)
        let problems = try await store.verify(accounts: { _ in [] }).problems
        #expect(!problems.contains { $0.text.contains("waits for a change") }, "\(problems)")
        try await store.close()
    }

    @Test func `a receipt that damage has ended is kept as long as any, one that waits is kept`()
        async throws
    {
        let shelf = try await Shelf()
        let receipts = [try await shelf.edit("a").receiptID, try await shelf.edit("b").receiptID]
        try await shelf.byHand("DELETE FROM pending_change WHERE cipher_id = 'a'")
        try await shelf.store.database.write { (db) throws(DatabaseError) in
            try ReceiptTable.endLost(at: Shelf.moment(50), db)
        }
        func found() throws -> [Receipt.Status?] {
            try receipts.map { id in
                try shelf.store.reader.receipt(#require(id), of: Shelf.user)?.status
            }
        }
        try await shelf.store.forgetReceipts(before: Shelf.moment(50))
        #expect(try found() == [.quarantined, .queued])
        try await shelf.store.forgetReceipts(before: Self.later)
        #expect(try found() == [nil, .queued])
        try await shelf.store.close()
    }

    /// - Parameter lost: The change about this cipher is not there, though nothing has ended it.
    /// - Returns: The receipts: of every second the change is gone, and the first by its id has a word
    ///   of tomorrow's.
    private static func filled(
        _ scratch: Scratch,
        losing lost: String? = nil
    ) async throws -> [String] {
        let shelf = try await Shelf(scratch)
        var receipts: [String] = []
        for number in 0..<count {
            let recorded = try await shelf.add("item-\(number)")
            if number % 2 == 0 { try await shelf.discard("item-\(number)") }
            receipts.append(try #require(recorded.receiptID))
        }
        try await shelf.byHand("PRAGMA ignore_check_constraints = ON")
        try await shelf.byHand(
            "UPDATE receipt SET status = 'deferred' WHERE id = ?",
            Value(receipts.min())
        )
        try await shelf.byHand("DELETE FROM pending_change WHERE cipher_id = ?", Value(lost))
        try await shelf.store.close()
        return receipts
    }

    /// The page of the receipts themselves, not that of an index of theirs.
    private static func overwritePage(of path: String, with receipt: String) throws {
        var bytes = try Files.read(path)
        let pattern = Array(receipt.utf8)
        let pages = stride(from: 0, to: bytes.count, by: 4_096).filter { start in
            bytes[start] == 10
                && bytes[start..<start + 4_096].firstRange(of: Array("user-1".utf8)) != nil
                && bytes[start..<start + 4_096].firstRange(of: pattern) != nil
                && bytes[start..<start + 4_096].firstRange(of: Array("discarded".utf8)) != nil
        }
        let page = try #require(pages.first)
        for index in page..<page + 4_096 { bytes[index] = 0xa5 }
        try Files.replace(path, with: bytes)
    }
}
