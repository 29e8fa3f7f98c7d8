import Crypto
import FuzzProperties
import Records
import Testing
import Vault

/// A newer build's additions survive this one, at the top and inside everything.
@Suite struct UnknownFieldsTests {
    private let change: PendingChange
    private let bytes: [UInt8]

    private static let invented: [UInt8] =
        Wire.field(900, Array("from tomorrow".utf8)) + Wire.field(901, 77)

    init() {
        let change = PendingChange.versionOne[3].change
        self.change = change
        func message(_ fields: [UInt8]) -> [UInt8] { fields + Self.invented }
        func text(_ text: String) -> [UInt8] { Array(text.utf8) }
        let revision = message(Wire.field(1, text("2026-02-18T09:30:00Z")) + Wire.field(2, 8))
        let snapshot = message(
            Wire.field(1, 1) + Wire.field(2, [1])
                + Wire.field(3, Digest.sha256(change.intent.snapshot?.json ?? []))
        )
        let adjustments = message(Wire.field(1, 1))
        let update = message(Wire.field(1, snapshot) + Wire.field(3, adjustments))
        let clock = message(Wire.field(2, text("boot")) + Wire.field(3, 4))
        let attempt = message(
            Wire.field(1, text("update")) + Wire.field(2, 4) + Wire.field(3, [9])
                + Wire.field(4, text("unknown"))
        )
        let backup = message(Wire.field(1, revision) + Wire.field(2, [1]))
        let failure = message(Wire.field(1, text("kind")) + Wire.field(2, text("message")))
        let forgotten = message(Wire.field(1, text("{}")))
        let parts: [[UInt8]] = [
            Wire.field(1, text(change.id)), Wire.field(2, text(change.userID)),
            Wire.field(3, text(change.cipherID)), Wire.field(5, update),
            Wire.field(9, revision), Wire.field(10, 2), Wire.field(11, clock),
            Wire.field(13, attempt), Wire.field(15, backup), Wire.field(17, failure),
            Wire.field(18, forgotten),
        ]
        bytes = Wire.envelope(message(Array(parts.joined())), format: 2, more: Self.invented)
    }

    private var record: PendingRecord? {
        PendingRecord.read(bytes, PendingRecord.Columns(of: change)).value
    }

    private func count(in bytes: [UInt8]) -> Int {
        let pattern = Self.invented
        return (0...(bytes.count - pattern.count)).count {
            Array(bytes[$0..<($0 + pattern.count)]) == pattern
        }
    }

    @Test func `an invented field survives in every message`() throws {
        #expect(count(in: bytes) == 12)
        let record = try #require(record)
        #expect(count(in: record.encoded()) == 12)
    }

    @Test func `they survive a change of what is known`() throws {
        var record = try #require(record)
        record.change.note(Attempt(.trash, at: Moment(ticks: 9)))
        record.change.backup?.cipherID = "made"
        record.change.failures += 1
        let written = record.encoded()
        #expect(count(in: written) == 12)
        var columns = PendingRecord.Columns(of: record.change)
        columns.changeType = "update"
        let again = try #require(PendingRecord.read(written, columns).value)
        #expect(again.change == record.change)
    }

    @Test func `what was said of content goes with the content, the rest stays`() throws {
        var record = try #require(record)
        let snapshot = Snapshot(json: Array("{}".utf8), keyFingerprint: [1])
        record.change.intent = .update(snapshot, trash: nil, record.change.intent.adjustments)
        #expect(count(in: record.encoded()) == 11)
    }

    @Test func `a newer build's record stays its`() throws {
        let record = try #require(record)
        #expect(Array(record.encoded()[..<2]) == Wire.field(1, 2))
    }
}
