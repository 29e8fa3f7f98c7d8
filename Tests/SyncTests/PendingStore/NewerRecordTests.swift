import FuzzProperties
import Records
import SQLite
import TestSupport
import Testing
import Vault

@testable import Sync

/// Records of a later program, in the hands of the store.
@Suite struct NewerRecordTests {
    private static let invented: [UInt8] =
        Wire.field(900, Array("from tomorrow".utf8)) + Wire.field(901, 77)

    /// The record of the next format that is in the place of a change's own.
    private static func replaceRecord(
        of cipher: String,
        leastReader: UInt64,
        _ shelf: Shelf
    ) async throws -> [UInt8] {
        let change = try #require(try shelf.change(cipher))
        let payload = payload(of: PendingRecord(change).encoded()) + invented
        let record = Wire.envelope(payload, format: 2, leastReader: leastReader, more: invented)
        try await shelf.byHand("UPDATE pending_change SET record = ?", .blob(record))
        return record
    }

    /// What stands in an envelope of ours behind its two numbers, a tag and its length.
    private static func payload(of record: [UInt8]) -> [UInt8] {
        var (count, shift, index) = (0, 0, 5)
        while record[index] > 127 {
            count |= Int(record[index] & 127) << shift
            (shift, index) = (shift + 7, index + 1)
        }
        count |= Int(record[index]) << shift
        return Array(record[(index + 1)...].prefix(count))
    }

    private static func record(_ shelf: Shelf) throws -> [UInt8]? {
        try shelf.store.database.read { (db) throws(DatabaseError) in
            try db.first("SELECT record FROM pending_change") { (row) throws(DatabaseError) in
                try row.bytes(0)
            }
        }
    }

    @Test
    func `G-R1 a record that only a newer program may touch is kept as it is, through everything`()
        async throws
    {
        let (scratch, other) = (try Scratch(), try Scratch())
        let (id, record) = try await Self.setAside(in: scratch, copiedTo: other)
        for place in [scratch, other] {
            let shelf = try await Shelf(place, seed: 2)
            #expect(try Self.record(shelf) == record)
            let found = try #require(try shelf.store.reader.change(id))
            #expect(found.summary.state == .quarantined && found.summary.type == .update)
            #expect(found.change == nil)
            try await shelf.store.close()
        }
    }

    /// After everything was tried on it that must not touch it.
    private static func setAside(
        in scratch: Scratch,
        copiedTo other: Scratch
    ) async throws -> (id: String, record: [UInt8]) {
        let shelf = try await Shelf(scratch)
        let change = try await shelf.edit("a").change
        let record = try await replaceRecord(of: "a", leastReader: 2, shelf)
        guard case .newer(leastReader: 2) = try shelf.store.reader.change(change.id)?.reading else {
            throw Unexpected(what: "It was not seen as newer.")
        }
        guard
            case .unreadable = try await shelf.record(.trash, "a"),
            case .unreadable = try await shelf.store.update(change.id, expecting: 1, { _ in }),
            case .unreadable = try await shelf.settle(change, expecting: 7)
        else {
            throw Unexpected(what: "It was changed.")
        }
        #expect(try await shelf.store.quarantineUnreadable(change.id, expecting: 1))
        try await shelf.store.copyPending(to: other.file(Store.fileName))
        try await shelf.store.close()
        return (change.id, record)
    }

    private struct Unexpected: Error {
        let what: String
    }

    @Test func `a person settles or discards what only a newer program can read`() async throws {
        for isDiscarded in [true, false] {
            let shelf = try await Shelf()
            let change = try await shelf.edit("a").change
            _ = try await Self.replaceRecord(of: "a", leastReader: 2, shelf)
            #expect(try await shelf.store.quarantineUnreadable(change.id, expecting: 1))
            if isDiscarded {
                #expect(
                    try await shelf.store.discard(change.id, expecting: 2, at: Shelf.moment(9))
                )
            } else {
                guard case .settled = try await shelf.settle(change, expecting: 2) else {
                    Issue.record("It is still there.")
                    return
                }
            }
            #expect(try shelf.store.reader.changes(of: Shelf.user).isEmpty)
            #expect(try shelf.store.reader.resolutions(of: Shelf.user, limit: 9).count == 1)
            try await shelf.store.close()
        }
    }

    @Test func `a salvage carries a newer record over as it is, and sets it aside`() async throws {
        let (one, two) = (try await Shelf(), try await Shelf(seed: 2))
        try await one.edit("a")
        let record = try await Self.replaceRecord(of: "a", leastReader: 2, one)
        let row = try #require(try PendingRows.row(1, in: one.store.database))
        let doubted = row.doubted(at: Shelf.moment(5))
        #expect(try await two.store.write { (db) throws(DatabaseError) in try doubted.insert(db) })
        #expect(try Self.record(two) == record)
        #expect(try two.store.reader.tally().map(\.state) == [.quarantined])
    }

    @Test func `what comes out of a copy is known by what would have been sent, and only once`()
        async throws
    {
        let (one, two) = (try await Shelf(), try await Shelf(seed: 2))
        try await one.edit("a")
        let content = try #require(try one.change("a")?.intent.snapshot)
        let sent = Attempt(
            .update,
            at: Shelf.moment(5),
            fingerprint: try Cipher(content.json).fingerprint
        )
        let row = try #require(try PendingRows.row(1, in: one.store.database))
        let doubted = row.doubted(at: Shelf.moment(5)).doubted(at: Shelf.moment(6))
        #expect(try await two.store.write { (db) throws(DatabaseError) in try doubted.insert(db) })
        #expect(try two.change("a")?.attempts == [sent])
    }

    /// Everything that reads a record, changes it and writes it back.
    @Test func `what a newer program added outlives every change that the store makes`()
        async throws
    {
        let scratch = try Scratch()
        try await Self.changeInEveryWay(in: scratch)
        let shelf = try await Shelf(scratch, seed: 2)
        try Self.expectKept("a restart", version: 7, shelf)
        try await shelf.store.close()
    }

    private static func expectKept(_ step: String, version: Int64, _ shelf: Shelf) throws {
        let bytes = try #require(try record(shelf))
        #expect(Array(bytes[..<2]) == Wire.field(1, 2), "\(step): the format")
        #expect(count(in: bytes) == 2, "\(step)")
        #expect(try shelf.change("a")?.version == version, "\(step)")
    }

    private static func changeInEveryWay(in scratch: Scratch) async throws {
        let shelf = try await Shelf(scratch)
        let change = try await shelf.edit("a", to: "one").change
        _ = try await replaceRecord(of: "a", leastReader: 1, shelf)
        func expectKept(_ step: String, version: Int64) throws {
            try Self.expectKept(step, version: version, shelf)
        }
        let wish = Edit.Wish.update(Shelf.snapshot("two"), changesPassword: true)
        try await shelf.record(wish, "a")
        try expectKept("an edit", version: 2)
        let attempt = Attempt(.update, at: Shelf.moment(3), fingerprint: [1])
        let sent = try await shelf.record(.favour(true), "a", as: .inFlight(attempt)).made
        try expectKept("an edit in flight", version: 3)
        #expect(try await shelf.store.withdraw(sent, expecting: 3))
        try expectKept("a withdrawal", version: 4)
        _ = try await shelf.store.update(change.id, expecting: 4) { $0.failures += 1 }
        try expectKept("an update", version: 5)
        _ = try await shelf.store.queue(change.id, expecting: 5, at: Shelf.moment(4)) { _ in }
        try expectKept("a wait", version: 6)
        guard case .rebased = try await shelf.settle(change, expecting: 1) else {
            Issue.record("It is gone.")
            return
        }
        try expectKept("a new baseline", version: 7)
        try await shelf.store.close()
    }

    private static func count(in bytes: [UInt8]) -> Int {
        (0...(bytes.count - invented.count)).count { bytes[$0...].starts(with: invented) }
    }
}

extension Shelf {
    fileprivate func settle(
        _ change: PendingChange,
        expecting version: Int64
    ) async throws -> Settled {
        try await store.settle(
            change.id,
            in: Self.lane(change.cipherID),
            expecting: version,
            Settlement(
                upstream: .holds(Self.base(change.cipherID, ticks: 77)),
                receipts: ReceiptEnd(.sent, at: Self.moment(5)),
                resolution: ResolutionNote(.pushed, at: Self.moment(5))
            )
        )
    }
}
