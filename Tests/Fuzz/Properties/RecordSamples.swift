import Crypto
public import Records
public import Vault

extension PendingRecord.Columns {
    /// The columns that the store would have beside this change's record.
    public init(of change: PendingChange, changeType: String? = nil) {
        self.init(
            id: change.id,
            userID: change.userID,
            cipherID: change.cipherID,
            version: change.version,
            changeType: changeType ?? change.intent.typeText,
            state: change.state,
            updated: change.updated,
            snapshot: change.intent.snapshot?.json,
            baseCopy: change.baseCopy
        )
    }
}

extension PendingChange {
    /// What a record of version 1 can hold, in all its shapes. These values, and the golden bytes
    /// that belong to them, never change; later versions get values of their own.
    public static let versionOne: [(name: String, change: PendingChange)] = {
        let snapshot = frozen("{\"type\":1,\"name\":\"2.aXY=|Y3Q=|bWFj\"}")
        let everything = Adjustments(isArchived: false, folder: .id("f-1"), isFavourite: true)
        return [
            ("create", bare(.create(snapshot, .none), baseline: nil)),
            (
                "create-archived",
                bare(.create(snapshot, Adjustments(isArchived: true)), baseline: nil)
            ),
            ("update", full(.update(snapshot, trash: nil, .none))),
            ("update-trashed", full(.update(snapshot, trash: .trashed, everything))),
            (
                "update-restored",
                bare(
                    .update(
                        snapshot,
                        trash: .restored,
                        Adjustments(folder: Adjustments.Folder.none)
                    )
                )
            ),
            ("softDelete", bare(.softDelete(nil, .none))),
            ("softDelete-content", full(.softDelete(snapshot, everything))),
            ("hardDelete", bare(.hardDelete)),
            ("other-restore", full(.other(restores: true, .none))),
            ("other-adjusted", bare(.other(restores: false, everything))),
        ]
    }()

    private static func frozen(_ json: String) -> Snapshot {
        Snapshot(json: Array(json.utf8), keyFingerprint: [0xde, 0xad, 0xbe, 0xef])
    }

    private static let first = Revision(
        text: "2026-02-18T09:30:00.1234567Z",
        moment: Moment(ticks: 17_714_070_001_234_567)
    )

    private static func bare(_ intent: Intent, baseline: Revision? = first) -> PendingChange {
        PendingChange(
            id: "5f0c9f5e-8d7c-4a51-9a7e-0d6c6d0b7a11",
            userID: "a0000000-0000-4000-8000-000000000001",
            cipherID: "c0000000-0000-4000-8000-000000000002",
            version: 1,
            intent: intent,
            baseline: baseline,
            created: Moment(ticks: 17_714_070_010_000_000),
            updated: Moment(ticks: 17_714_070_020_000_000)
        )
    }

    private static func full(_ intent: Intent) -> PendingChange {
        PendingChange(
            id: "5f0c9f5e-8d7c-4a51-9a7e-0d6c6d0b7a11",
            userID: "a0000000-0000-4000-8000-000000000001",
            cipherID: "c0000000-0000-4000-8000-000000000002",
            version: 12,
            intent: intent,
            baseline: first,
            baseCopy: Array("{\"object\":\"cipher\"}".utf8),
            created: Moment(ticks: 17_714_070_010_000_000),
            updated: Moment(ticks: 17_714_070_020_000_000),
            clock: ClockNote(offsetTicks: -12_345, bootID: "boot-1", elapsedTicks: 987_654_321),
            passwordChanges: 4,
            attempts: [
                Attempt(
                    .backup,
                    at: Moment(ticks: 17_714_070_030_000_000),
                    fingerprint: [1, 2],
                    outcome: .accepted
                ),
                Attempt(
                    .update,
                    at: Moment(ticks: 17_714_070_040_000_000),
                    fingerprint: [3],
                    outcome: .refused
                ),
                Attempt(.trash, at: Moment(ticks: 17_714_070_050_000_000)),
            ],
            attemptCount: 9,
            backup: BackupNote(source: first, json: [0x7b, 0x7d], cipherID: "b-1"),
            state: .backingOff(until: Moment(ticks: 17_714_070_090_000_000)),
            failures: 3,
            lastFailure: FailureNote(kind: .serverError, message: "502 – später")
        )
    }
}

/// The wire format by hand, for what no writer of ours makes.
public enum Wire {
    public static func varint(_ number: UInt64) -> [UInt8] {
        var rest = number
        var bytes: [UInt8] = []
        while rest > 127 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    public static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] {
        varint(number << 3) + varint(value)
    }

    public static func field(_ number: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(bytes.count)) + bytes
    }

    public static func envelope(
        _ payload: [UInt8],
        format: UInt64 = 1,
        leastReader: UInt64 = 1,
        more: [UInt8] = []
    ) -> [UInt8] {
        field(1, format) + field(2, leastReader) + field(3, payload)
            + field(4, Digest.sha256(payload)) + more
    }
}
