internal import SQLite
internal import Vault

/// Carries what is pending from a damaged file into a fresh one.
///
/// Row by row, because a damaged page takes only its own rows along. Where rows are missing, the
/// hourly copy may have them; what was settled since then is left out as far as the damaged file tells
/// (``EndedChanges``), and upstream is asked about the rest before any of it is sent.
///
/// Receipts come along, for their owners ask for them, and so does what stands in no list of upstream's
/// (``CarriedTable``).
///
/// Only what is damaged itself may be passed over. A disk that fails or is full passes, and what was
/// left behind on its account would be gone for good: such an error ends the salvage, and the next
/// start begins it anew.
struct Salvage {
    private let store: Store
    private let damaged: String?
    private let copy: String?
    private let configuration: Configuration

    /// - Parameters:
    ///   - damaged: Nil if nothing is left of it.
    ///   - copy: The hourly copy, if there is one.
    init(
        into store: Store,
        from damaged: String?,
        copy: String?,
        _ configuration: Configuration
    ) {
        self.store = store
        self.damaged = damaged
        self.copy = copy
        var configuration = configuration
        configuration.isCheckedAtOpen = false
        // A migration would stumble over the damage, and nothing would be carried over.
        configuration.isMigratedAtOpen = false
        self.configuration = configuration
    }

    func carryOver() async throws(StoreError) {
        try await numberAnew()
        try await carryAll()
        let now = store.now
        try await store.write { (db) throws(DatabaseError) in
            try ReceiptTable.endLost(at: now, db)
        }
    }

    private func carryAll() async throws(StoreError) {
        var ended = EndedChanges()
        if let damaged {
            let isWhole = try await reading(damaged, otherwise: false) {
                (source) throws(StoreError) in
                let isWhole = try await carryChanges(from: source) { $0 }
                try await carryReceipts(from: source)
                try await carryRest(from: source)
                try await carryNumber(from: source)
                ended = try EndedChanges(in: source)
                return isWhole
            }
            if isWhole { return }
        }
        guard let copy else { return }
        let (now, known) = (store.now, ended)
        try await reading(copy, otherwise: ()) { (source) throws(StoreError) in
            _ = try await carryChanges(from: source) { row in
                known.covers(row) ? nil : row.doubted(at: now)
            }
        }
    }

    /// Takes from the copy what is younger than every change that the store has ever had, and what was edited
    /// since in those that it has.
    ///
    /// - Returns: How many.
    func catchUp() async throws(StoreError) -> Int {
        guard let copy else { return 0 }
        let last = try store.reader.lastNumber()
        let now = store.now
        return try await reading(copy, otherwise: 0) { (source) throws(StoreError) in
            let later = try PendingRows.sequences(in: source).found.filter { $0 > last }
            let ahead = try editedSince(in: source)
            guard !later.isEmpty || !ahead.isEmpty else { return 0 }
            try await doubtAll(at: now)
            var count = 0
            for step in Self.steps(of: later) {
                let rows = try Self.rows(step, in: source)
                try await store.write { (db) throws(DatabaseError) in
                    for row in rows {
                        // What the store has of that cipher came before, and was settled by then.
                        try row.clear(at: now, db)
                        try row.doubted(at: now).insert(db)
                    }
                }
                count += rows.count
            }
            return try await count + takeLaterEdits(ahead, from: source, at: now)
        }
    }

    private func editedSince(in source: Database) throws(StoreError) -> [Int] {
        let known = try PendingRows.versions(in: store.database)
        let ahead = try PendingRows.versions(in: source).filter { sequence, version in
            known[sequence].map { $0 < version } ?? false
        }
        return ahead.keys.sorted()
    }

    /// In a file that is older than its copy, all that waits may have been sent since. Whoever is stopped meanwhile
    /// begins anew, because the copy still has what comes next.
    private func doubtAll(at now: Moment) async throws(StoreError) {
        for step in Self.steps(of: try PendingRows.sequences(in: store.database).found) {
            let rows = try Self.rows(step, in: store.database).filter(\.isUnderstood)
            try await store.write { (db) throws(DatabaseError) in
                for row in rows { try row.doubted(at: now).replace(row, db) }
            }
        }
    }

    private func takeLaterEdits(
        _ ahead: [Int],
        from source: Database,
        at now: Moment
    ) async throws(StoreError) -> Int {
        var count = 0
        for step in Self.steps(of: ahead) {
            let edited = try laterEdits(step, in: source)
            try await store.write { (db) throws(DatabaseError) in
                for (row, older) in edited { try row.doubted(at: now).replace(older, db) }
            }
            count += edited.count
        }
        return count
    }

    private func laterEdits(
        _ sequences: ArraySlice<Int>,
        in source: Database
    ) throws(StoreError) -> [(row: PendingRow, older: PendingRow)] {
        var edited: [(row: PendingRow, older: PendingRow)] = []
        for sequence in sequences {
            guard let row = try PendingRows.row(sequence, in: source), row.isReadable,
                let older = try PendingRows.row(sequence, in: store.database), older.id == row.id
            else { continue }
            edited.append((row, older))
        }
        return edited
    }

    /// So many share a transaction: of thousands that wait, each would have a flush of its own.
    private static let rowsPerStep = 500

    private static func steps<Element>(of elements: [Element]) -> [ArraySlice<Element>] {
        stride(from: 0, to: elements.count, by: rowsPerStep).map { start in
            elements[start...].prefix(rowsPerStep)
        }
    }

    /// Those that can be read.
    private static func rows(
        _ sequences: ArraySlice<Int>,
        in source: Database
    ) throws(StoreError) -> [PendingRow] {
        var rows: [PendingRow] = []
        for sequence in sequences {
            if let row = try PendingRows.row(sequence, in: source) { rows.append(row) }
        }
        return rows
    }

    private func reading<Answer>(
        _ path: String,
        otherwise answer: Answer,
        _ body: (Database) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        guard let source = try await open(path) else { return answer }
        do throws(StoreError) {
            let answer = try await body(source)
            // The file is kept as it is; that its log cannot be emptied is no news.
            try? await source.close()
            return answer
        } catch {
            try? await source.close()
            throw error
        }
    }

    private func open(_ path: String) async throws(StoreError) -> Database? {
        do throws(DatabaseError) {
            if let source = try await openIfSound(path) { return source }
            // Only now: it also passes over that the disk has failed.
            var forgiving = configuration
            forgiving.isSchemaForgiven = true
            return try await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: forgiving
            )
        } catch {
            return try error.passedOver(nil)
        }
    }

    /// - Returns: Nil if what it says of its tables is damaged.
    private func openIfSound(_ path: String) async throws(DatabaseError) -> Database? {
        var opened: Database?
        do throws(DatabaseError) {
            let source = try await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: configuration
            )
            opened = source
            _ = try source.read { (db) throws(DatabaseError) in
                try db.first("SELECT 1 FROM sqlite_schema LIMIT 1") {
                    (row) throws(DatabaseError) in try row.int(0)
                }
            }
            return source
        } catch {
            try? await opened?.close()
            guard error.isDamage else { throw error }
            return nil
        }
    }

    /// - Parameter changed: How a row is taken over; nil if it is not.
    /// - Returns: Whether every row of the pending table could be read.
    private func carryChanges(
        from source: Database,
        _ changed: @Sendable (PendingRow) -> PendingRow?
    ) async throws(StoreError) -> Bool {
        let (sequences, isComplete) = try PendingRows.sequences(in: source)
        var isWhole = isComplete
        // Of two about one cipher, which a page that was not written may leave, the later is the living one.
        for step in Self.steps(of: sequences.reversed()) {
            let found = try Self.rows(step, in: source)
            let rows = found.compactMap(changed)
            let isTaken = try await store.write { (db) throws(DatabaseError) in
                var isTaken = true
                for row in rows where try !row.insert(db) { isTaken = false }
                return isTaken
            }
            isWhole = isWhole && isTaken && found.count == step.count
        }
        return isWhole
    }

    /// From either end, so that a damaged page hides no more than what lies on it.
    private func carryReceipts(from source: Database) async throws(StoreError) {
        for way in ReceiptRow.ways {
            for step in Self.steps(of: try ReceiptRow.all(by: way, in: source)) {
                try await store.write { (db) throws(DatabaseError) in
                    for row in step { try row.insert(db) }
                }
            }
        }
    }

    /// What is edited from now on is younger than all that any earlier file knew, also where nothing tells how far
    /// changes were numbered there. If one of those comes into the place of this one, its copy is compared by that.
    private func numberAnew() async throws(StoreError) {
        let number = Int(store.now.ticks / Moment.ticksPerMillisecond)
        try await store.write { (db) throws(DatabaseError) in
            try PendingTable.raiseNumber(to: number, db)
        }
    }

    /// How far changes were numbered, or those that are settled would look younger than all that there is.
    private func carryNumber(from source: Database) async throws(StoreError) {
        let last: Int
        do throws(DatabaseError) {
            last = try source.read { (db) throws(DatabaseError) in try PendingTable.lastNumber(db) }
        } catch {
            last = try error.passedOver(0)
        }
        try await store.write { (db) throws(DatabaseError) in
            try PendingTable.raiseNumber(to: last, db)
        }
    }

    private func carryRest(from source: Database) async throws(StoreError) {
        for table in CarriedTable.all {
            for way in table.ways {
                for step in Self.steps(of: try table.rows(by: way, in: source)) {
                    try await store.write { (db) throws(DatabaseError) in
                        for values in step { try table.insert(values, db) }
                    }
                }
            }
        }
    }
}

extension DatabaseError {
    var isDamage: Bool { [.damaged, .notADatabase].contains(trouble) }

    /// What stands for that which a damaged file does not tell; any other error is thrown.
    ///
    /// Damage also shows as a column of another kind, as text of a senseless length, or as a table
    /// that is not there: SQLite refuses that, and the disk has no part in it.
    func passedOver<Answer>(_ answer: Answer) throws(StoreError) -> Answer {
        guard isDamage || trouble == .refused && code != nil else { throw .database(self) }
        return answer
    }
}
