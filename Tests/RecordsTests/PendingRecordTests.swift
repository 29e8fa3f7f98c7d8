import FuzzProperties
import Records
import Testing
import Vault

@Suite struct PendingRecordTests {
    private func read(_ bytes: [UInt8], as change: PendingChange) -> Reading<PendingRecord> {
        PendingRecord.read(bytes, PendingRecord.Columns(of: change))
    }

    @Test func `what is written is read again, whatever its shape`() {
        for (name, change) in PendingChange.versionOne {
            let bytes = PendingRecord(change).encoded()
            #expect(read(bytes, as: change).value?.change == change, "\(name)")
        }
    }

    @Test func `writing what was read gives the same bytes`() {
        for (name, change) in PendingChange.versionOne {
            let bytes = PendingRecord(change).encoded()
            #expect(read(bytes, as: change).value?.encoded() == bytes, "\(name)")
        }
    }

    @Test(arguments: ["", "archive", "softdelete"])
    func `T-70 a type that does not fit the record is kept as it stood, and flagged`(
        _ text: String
    ) throws {
        for (name, change) in PendingChange.versionOne {
            let columns = PendingRecord.Columns(of: change, changeType: text)
            let record = PendingRecord.read(PendingRecord(change).encoded(), columns)
            #expect(record.value?.change.foreignType == text, "\(name)")
            #expect(record.value?.change.type == .update, "\(name)")
            #expect(record.value?.change.intent == change.intent, "\(name)")
        }
    }

    @Test func `an update of the place alone is known by its name of today and of yesterday`() {
        var change = PendingChange.versionOne[3].1
        change.intent = .other(restores: false, Adjustments(isFavourite: true))
        #expect(change.type == .update)
        for text in ["place", "other"] {
            let columns = PendingRecord.Columns(of: change, changeType: text)
            let record = PendingRecord.read(PendingRecord(change).encoded(), columns)
            #expect(record.value?.change == change, "\(text)")
        }
        change.intent = .other(restores: false, Adjustments(isArchived: true, isFavourite: true))
        #expect(change.type == .other)
    }

    @Test func `no bit can turn without being noticed`() {
        let (_, change) = PendingChange.versionOne[3]
        let bytes = PendingRecord(change).encoded()
        for bit in 0..<(bytes.count * 8) {
            var turned = bytes
            turned[bit / 8] ^= 1 << (bit % 8)
            switch read(turned, as: change) {
            case .readable(let record):
                // A turned bit in the envelope's own numbers leaves the payload as it was.
                #expect(record.change == change, "bit \(bit)")
            case .newer, .damaged: break
            }
        }
    }

    @Test func `a record that was cut off is damaged`() {
        let (_, change) = PendingChange.versionOne[2]
        let bytes = PendingRecord(change).encoded()
        for count in 0..<bytes.count {
            guard case .damaged = read(Array(bytes[..<count]), as: change) else {
                Issue.record("The first \(count) bytes were read.")
                continue
            }
        }
    }

    @Test(arguments: [nil, Situation.Conflict.hard, .soft])
    func `for which conflict a copy was made is kept`(_ conflict: Situation.Conflict?) throws {
        var change = PendingChange.versionOne[2].change
        let source = Revision(text: "then", moment: Moment(ticks: 7))
        change.backup = BackupNote(source: source, json: [1], cipherID: "b", conflict: conflict)
        let bytes = PendingRecord(change).encoded()
        let read = PendingRecord.read(bytes, PendingRecord.Columns(of: change))
        #expect(read.value?.change.backup == change.backup)
    }

    @Test func `what was forgotten beneath a change is kept with it`() {
        var change = PendingChange.versionOne[2].change
        change.forgotten = Snapshot(json: Array("{}".utf8), keyFingerprint: [7])
        let bytes = PendingRecord(change).encoded()
        let read = PendingRecord.read(bytes, PendingRecord.Columns(of: change))
        #expect(read.value?.change == change)
    }

    @Test(arguments: [nil, Situation.Conflict.delete])
    func `for which conflict something was sent is kept`(_ conflict: Situation.Conflict?) throws {
        var change = PendingChange.versionOne[2].change
        change.note(Attempt(.restore, at: Moment(ticks: 7), conflict: conflict))
        let bytes = PendingRecord(change).encoded()
        let read = PendingRecord.read(bytes, PendingRecord.Columns(of: change))
        #expect(read.value?.change.attempts == change.attempts)
    }

    @Test func `since when something fails is kept, and that nobody knows it too`() {
        var change = PendingChange.versionOne[2].change
        for since in [nil, Moment(ticks: 0), Moment(ticks: -7), Moment(ticks: .max)] {
            change.lastFailure = FailureNote(kind: .serverError, message: "500", since: since)
            let bytes = PendingRecord(change).encoded()
            let read = PendingRecord.read(bytes, PendingRecord.Columns(of: change)).value?.change
            #expect(read?.lastFailure == change.lastFailure)
        }
    }

    @Test func `a record of another row, or another snapshot, is damaged`() {
        let (_, change) = PendingChange.versionOne[2]
        let bytes = PendingRecord(change).encoded()
        var columns = PendingRecord.Columns(of: change)
        columns.userID = "somebody else"
        expect(.foreign, PendingRecord.read(bytes, columns))
        columns = PendingRecord.Columns(of: change)
        columns.snapshot?[5] ^= 1
        expect(.snapshot, PendingRecord.read(bytes, columns))
        columns.snapshot = nil
        expect(.snapshot, PendingRecord.read(bytes, columns))
    }

    @Test func `a payload without an intent, or with an invented word, is damaged`() {
        let change = PendingChange.versionOne[7].change
        let identity: [UInt8] =
            Wire.field(1, Array(change.id.utf8)) + Wire.field(2, Array(change.userID.utf8))
            + Wire.field(3, Array(change.cipherID.utf8)) + Wire.field(10, 2)
        expect(.field, read(Wire.envelope(identity), as: change))
        let attempt = Wire.field(1, Array("telepathy".utf8)) + Wire.field(4, Array("unknown".utf8))
        let invented = identity + Wire.field(7, []) + Wire.field(13, attempt)
        expect(.field, read(Wire.envelope(invented), as: change))
        expect(.payload, read(Wire.envelope([0xff]), as: change))
        expect(.envelope, read([], as: change))
        expect(.payload, read(Wire.envelope(identity + Wire.field(7, []) + [0, 0]), as: change))
        let plain = identity + Wire.field(7, [])
        #expect(read(Wire.envelope(plain), as: change).value?.change.intent == .hardDelete)
    }

    @Test func `a record for newer readers is told apart from a damaged one`() {
        let change = PendingChange.versionOne[0].change
        let bytes = Wire.envelope([0xff, 0xff], format: 3, leastReader: 2)
        guard case .newer(let leastReader) = read(bytes, as: change) else {
            Issue.record("It was not seen as newer.")
            return
        }
        #expect(leastReader == 2)
    }

    private func expect(_ damage: Damage, _ reading: Reading<PendingRecord>) {
        guard case .damaged(damage) = reading else {
            Issue.record("Not damaged by \(damage): \(reading)")
            return
        }
    }
}
