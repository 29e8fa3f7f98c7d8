public import Records
internal import SQLite
public import Vault

/// A pending change as it was found in the store.
public struct StoredChange: Sendable {
    /// What can be told even if the record cannot be read.
    public let summary: PendingSummary
    public let reading: Reading<PendingRecord>

    public var change: PendingChange? { reading.value?.change }
}

public struct PendingSummary: Hashable, Sendable {
    /// The order of recording, for ever growing.
    public let sequence: Int
    public let id: String
    public let lane: Lane
    public let version: Int64
    public let typeText: String
    public let state: PendingChange.State
    public let created: Moment
    public let updated: Moment
    public let baseline: Revision?
    public let passwordChanges: Int64

    public var type: ChangeType { ChangeType.shown(for: typeText) }
}

/// How much waits of one account.
public struct PendingQueue: Hashable, Sendable {
    public internal(set) var counts: [PendingChange.State.Kind: Int]

    public init(counts: [PendingChange.State.Kind: Int] = [:]) { self.counts = counts }

    /// How many are not set aside.
    public var live: Int {
        counts.reduce(0) { $1.key == .quarantined ? $0 : $0 + $1.value }
    }
}

/// How many changes of a kind are pending, and how large they are.
public struct PendingTally: Hashable, Sendable {
    public let type: ChangeType
    public let state: PendingChange.State.Kind
    public internal(set) var count: Int
    public internal(set) var bytes: Int
}

extension [PendingTally] {
    /// One of each kind: what the store tells apart may be shown as the same.
    var byWhatIsShown: [PendingTally] {
        reduce(into: []) { shown, next in
            let known = shown.firstIndex { $0.type == next.type && $0.state == next.state }
            guard let known else { return shown.append(next) }
            shown[known].count += next.count
            shown[known].bytes += next.bytes
        }
    }
}

extension PendingTally {
    /// Reads type, state, count and size.
    init(_ row: borrowing Row) throws(DatabaseError) {
        type = ChangeType.shown(for: try row.text(0))
        state = try PendingChange.State.Kind(row, 1)
        count = try row.int(2)
        bytes = try row.int(3)
    }
}

extension StoredChange {
    /// Reads a row of `pending_change`, all columns.
    init(_ row: borrowing Row) throws(DatabaseError) {
        summary = try PendingSummary(row)
        let columns = PendingRecord.Columns(
            id: summary.id,
            userID: summary.lane.userID,
            cipherID: summary.lane.cipherID,
            version: summary.version,
            changeType: summary.typeText,
            state: summary.state,
            updated: summary.updated,
            snapshot: try row.bytes(orNil: 13),
            baseCopy: try row.bytes(orNil: 14)
        )
        reading = PendingRecord.read(try row.bytes(15), columns)
    }
}

extension PendingSummary {
    init(_ row: borrowing Row) throws(DatabaseError) {
        sequence = try row.int(0)
        id = try row.text(1)
        lane = Lane(userID: try row.text(2), cipherID: try row.text(3))
        version = Int64(try row.int(4))
        typeText = try row.text(5)
        let kind = try PendingChange.State.Kind(row, 6)
        state = PendingChange.State(kind, due: try row.int(orNil: 7))
        created = try row.moment(8)
        updated = try row.moment(9)
        passwordChanges = Int64(try row.int(12))
        let (text, moment) = (try row.text(orNil: 10), try row.moment(orNil: 11))
        baseline = if let text, let moment { Revision(text: text, moment: moment) } else { nil }
    }
}

extension PendingChange.State {
    init(_ kind: Kind, due: Int?) {
        switch kind {
        case .ready: self = .ready
        case .inFlight: self = .inFlight
        case .backingOff: self = .backingOff(until: Moment(ticks: Int64(due ?? 0)))
        case .quarantined: self = .quarantined
        }
    }

    /// When it may be tried, as the table has it.
    var due: Int? {
        switch self {
        case .ready: 0
        case .backingOff(let moment): Int(moment.ticks)
        case .inFlight, .quarantined: nil
        }
    }
}

extension PendingChange.State.Kind {
    init(_ row: borrowing Row, _ column: Int) throws(DatabaseError) {
        self.init(word: try row.text(column))
    }

    /// - Parameter word: One that the table's CHECK lets through.
    init(word: String) { self = Self(rawValue: word) ?? .ready }
}
