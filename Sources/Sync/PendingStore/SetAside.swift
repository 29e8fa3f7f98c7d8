internal import SQLite
internal import System

/// A whole file that a salvage or a migration set aside: it may have rows of every account.
struct SetAside {
    let path: String

    /// Those that lie beside a store's file.
    static func all(beside file: String) throws(StoreError) -> [SetAside] {
        do throws(SystemError) {
            let prefixes = [".damaged-", ".version-"].map { file + $0 }
            var paths: Set<String> = []
            for prefix in prefixes { paths.formUnion(try StoreFile.all(beginningWith: prefix)) }
            var found: [SetAside] = []
            for path in paths.sorted() where try standsAlone(path, among: paths) {
                found.append(SetAside(path: path))
            }
            return found
        } catch {
            throw .system(error)
        }
    }

    /// Whether it is not what SQLite keeps beside another of them. Of a file that was gone, only the log may lie there.
    private static func standsAlone(
        _ path: String,
        among paths: Set<String>
    ) throws(SystemError) -> Bool {
        if path.hasSuffix("-shm") { return false }
        guard path.hasSuffix(logEnding) else { return true }
        let file = String(path.dropLast(logEnding.count))
        if paths.contains(file) { return false }
        return try StoreFile.size(of: path) > 0
    }

    private static let logEnding = "-wal"

    /// Takes the rows of one account out. A file that has nobody else's goes; one that is damaged is
    /// left as it is as long as it may have somebody else's, for it may be all that is left of them.
    ///
    /// - Returns: Whether nothing of the account is left in it.
    func erase(_ userID: String) async throws(StoreError) -> Bool {
        if path.hasSuffix(Self.logEnding) { return false }
        guard let (file, isSound) = try await open() else { return false }
        let owners: Set<String>?
        do throws(StoreError) {
            owners = try Self.owners(of: file)
            if isSound, let owners, owners.contains(userID), owners.count > 1 {
                try await Store.wrapping { () async throws(DatabaseError) in
                    try await file.write { (db) throws(DatabaseError) in
                        try db.overwriting { () throws(DatabaseError) in
                            try AccountTable.erase(userID, db)
                        }
                    }
                }
            }
        } catch {
            try? await file.close()
            throw error
        }
        try? await file.close()
        guard let owners else { return false }
        guard owners.isSubset(of: [userID]) else { return isSound || !owners.contains(userID) }
        StoreFile.remove(path)
        return true
    }

    /// - Returns: Nothing if the file does not open at all, or is a newer program's.
    private func open() async throws(StoreError) -> (file: Database, isSound: Bool)? {
        for isSound in [true, false] {
            var configuration = Configuration()
            configuration.isCheckedAtOpen = isSound
            // As old as it is, or the program that it is kept for could not read it.
            configuration.isMigratedAtOpen = false
            do throws(DatabaseError) {
                let migrations = Schema.migrations
                return (
                    try await Database.open(
                        path,
                        migrations: migrations,
                        configuration: configuration
                    ), isSound
                )
            } catch {
                if error.trouble == .newerSchema { return nil }
                _ = try error.passedOver(())
            }
        }
        return nil
    }

    /// - Returns: Nothing if they cannot all be told.
    private static func owners(of file: Database) throws(StoreError) -> Set<String>? {
        guard try PendingRows.sequences(in: file).isComplete else { return nil }
        do throws(DatabaseError) {
            return Set(
                try file.read { (db) throws(DatabaseError) in
                    try db.all(
                        """
                        SELECT id FROM account UNION SELECT user_id FROM base_clock
                        UNION SELECT user_id FROM pending_change NOT INDEXED
                        """
                    ) { (row) throws(DatabaseError) in try row.text(0) }
                }
            )
        } catch {
            return try error.passedOver(nil)
        }
    }
}
