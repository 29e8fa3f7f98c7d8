/// A step of the schema from one version to the next.
///
/// Migrations are numbered by their place in the list, from 1; a released one never changes.
/// Foreign keys are not enforced while it runs, so that tables can be rebuilt, but checked before
/// it is committed.
public struct Migration: Sendable {
    let name: String
    let apply: @Sendable (borrowing Connection) throws(DatabaseError) -> Void

    public init(
        _ name: String,
        _ apply: @escaping @Sendable (borrowing Connection) throws(DatabaseError) -> Void
    ) {
        self.name = name
        self.apply = apply
    }
}

extension Session {
    /// Brings the schema up to date: a copy of the file first, then one transaction each.
    ///
    /// The copy lies beside the file, named after its version, and stays there. `prepare` runs
    /// before the first change, if there is one to make.
    func migrate(
        _ migrations: [Migration],
        _ place: Place,
        prepare: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let found = try refuseNewerSchema(than: migrations, place)
        guard found < migrations.count else { return }
        try prepare()
        if try control("SELECT 1 FROM sqlite_schema LIMIT 1", "read the schema") != nil {
            try copy(to: Place(path: "\(place.path).version-\(found)", vfs: place.vfs))
        }
        try control("PRAGMA foreign_keys = OFF", "migrate")
        for version in found..<migrations.count {
            try migrate(to: version + 1, by: migrations[version])
        }
        try control("PRAGMA foreign_keys = ON", "migrate")
    }

    /// - Returns: The version of the schema.
    @discardableResult
    func refuseNewerSchema(
        than migrations: [Migration],
        _ place: Place
    ) throws(DatabaseError) -> Int {
        let found = try control("PRAGMA user_version", "read the schema") ?? 0
        guard found <= migrations.count else { throw .newerSchema(found, migrations.count, place) }
        return found
    }

    private func migrate(to version: Int, by migration: Migration) throws(DatabaseError) {
        try control("BEGIN IMMEDIATE", "migrate")
        needsTransaction = true
        defer { needsTransaction = false }
        do throws(DatabaseError) {
            try migration.apply(Connection(session: self))
            try refuseDanglingKeys()
            try runScript("PRAGMA user_version = \(version)")
            try control("COMMIT", "migrate")
        } catch {
            rollBack()
            throw error.during("migrate to version \(version) (\(migration.name))")
        }
    }

    private func refuseDanglingKeys() throws(DatabaseError) {
        let sql: StaticString = "SELECT DISTINCT \"table\" FROM pragma_foreign_key_check"
        let tables = try run(sql, []) { (statement) throws(DatabaseError) in
            var tables: [String] = []
            while try statement.step() { tables.append(try Row(statement).text(0)) }
            return tables
        }
        guard !tables.isEmpty else { return }
        throw DatabaseError(
            .foreignKeysViolated(tables: tables),
            during: "check",
            message: "rows without their counterpart in \(tables.joined(separator: ", "))"
        )
    }
}

extension DatabaseError {
    fileprivate static func newerSchema(
        _ found: Int,
        _ known: Int,
        _ place: Place
    ) -> DatabaseError {
        DatabaseError(
            .newerSchema(found: found, known: known),
            during: "open \(place.path)",
            message: "the schema has version \(found), this program knows \(known)"
        )
    }
}
