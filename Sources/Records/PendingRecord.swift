public import Vault

/// A pending change as it lies in the store: a record, and beside it the columns that are queried.
public struct PendingRecord: Sendable {
    public var change: PendingChange
    /// What a newer build added.
    private let unknown: Unknowns
    private let formatVersion: Int
    private let leastReaderVersion: Int

    public init(_ change: PendingChange) {
        self.change = change
        unknown = [:]
        formatVersion = Envelope.format
        leastReaderVersion = Envelope.leastReader
    }

    private init(_ change: PendingChange, _ unknown: Unknowns, from envelope: Envelope) {
        self.change = change
        self.unknown = unknown
        formatVersion = envelope.formatVersion
        leastReaderVersion = envelope.leastReaderVersion
    }

    /// What the record does not hold itself.
    public struct Columns: Sendable {
        public var id: String
        public var userID: String
        public var cipherID: String
        public var version: Int64
        public var changeType: String
        public var state: PendingChange.State
        public var updated: Moment
        public var snapshot: [UInt8]?
        public var baseCopy: [UInt8]?

        public init(
            id: String,
            userID: String,
            cipherID: String,
            version: Int64,
            changeType: String,
            state: PendingChange.State,
            updated: Moment,
            snapshot: [UInt8]?,
            baseCopy: [UInt8]?
        ) {
            self.id = id
            self.userID = userID
            self.cipherID = cipherID
            self.version = version
            self.changeType = changeType
            self.state = state
            self.updated = updated
            self.snapshot = snapshot
            self.baseCopy = baseCopy
        }
    }

    /// Whatever the bytes are, this neither traps nor changes them.
    public static func read(_ bytes: [UInt8], _ columns: Columns) -> Reading<PendingRecord> {
        Envelope.read(bytes).map { envelope in
            var unknown: Unknowns = [:]
            unknown[.envelope] = envelope.unknown
            do throws(Damage) {
                var reader = PendingChangeReader(columns: columns, unknown: unknown)
                let change = try reader.read(envelope.payload)
                return .readable(PendingRecord(change, reader.unknown, from: envelope))
            } catch {
                return .damaged(error)
            }
        }
    }

    /// The bytes of the record, without what lies in columns of its own.
    public func encoded() -> [UInt8] {
        var writer = PendingChangeWriter(unknown: unknown)
        var envelope = Envelope(payload: writer.encode(change))
        envelope.formatVersion = formatVersion
        envelope.leastReaderVersion = leastReaderVersion
        envelope.unknown = unknown[.envelope]
        return envelope.encoded()
    }
}
