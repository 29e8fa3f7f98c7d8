import SQLite
import System

/// Keeps the world on the disk, each part of it in a row of its own.
///
/// Of the access tokens of a device the last is kept. The real servers keep none, but know their own signature.
final class Archive: Sendable {
    private let database: Database
    private let lock: DirectoryLock

    private init(_ database: Database, _ lock: DirectoryLock) {
        self.database = database
        self.lock = lock
    }

    /// Opens the directory, and makes it if it is not there. It is this process's own until it is
    /// closed: two that keep different worlds in one file would damage both.
    ///
    /// - Parameter personality: Must be the one that the directory was begun with, because what is
    ///   kept has its shape.
    static func open(
        _ directory: String,
        _ personality: Personality
    ) async throws(UpstreamError) -> Archive {
        let lock = try take(directory)
        let archive: Archive
        let begun: String?
        do throws(DatabaseError) {
            let path = directory + "/upstream.db"
            archive = Archive(try await Database.open(path, migrations: migrations), lock)
            try await archive.sign(personality)
            begun = try archive.begunWith()
        } catch {
            throw .cannotKeep(error)
        }
        guard begun == personality.description else {
            try await archive.close()
            throw .cannotRead("they were kept as those of \(begun ?? "another server").")
        }
        return archive
    }

    private static func take(_ directory: String) throws(UpstreamError) -> DirectoryLock {
        do throws(SystemError) {
            try Files.makePrivateDirectory(directory)
        } catch {
            throw .cannotRead(error.description)
        }
        do throws(DirectoryLock.Refusal) {
            return try DirectoryLock(directory)
        } catch {
            switch error {
            case .held(let process): throw .held(directory: directory, by: process)
            case .system(let error): throw .cannotRead(error.description)
            }
        }
    }

    private static let migrations = [
        Migration("parts of the world") { (db) throws(DatabaseError) in
            try db.execute(
                script: """
                    CREATE TABLE part (
                        kind TEXT NOT NULL, owner TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
                        PRIMARY KEY (kind, owner, id)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        },
        Migration("which state of a part is the later one") { (db) throws(DatabaseError) in
            try db.execute(
                script: """
                    CREATE TABLE numbered (
                        kind TEXT NOT NULL, owner TEXT NOT NULL, id TEXT NOT NULL,
                        number INTEGER NOT NULL, body BLOB, PRIMARY KEY (kind, owner, id)
                    ) STRICT, WITHOUT ROWID;
                    INSERT INTO numbered SELECT kind, owner, id, 0, body FROM part;
                    DROP TABLE part;
                    ALTER TABLE numbered RENAME TO part;
                    """
            )
        },
    ]

    private func sign(_ personality: Personality) async throws(DatabaseError) {
        let name = Array(personality.description.utf8)
        try await database.write { (db) throws(DatabaseError) in
            try db.execute(
                "INSERT OR IGNORE INTO part VALUES ('personality', '', '', 0, ?)",
                .blob(name)
            )
            try db.execute("DELETE FROM part WHERE body IS NULL")
            try db.execute("UPDATE part SET number = 0")
        }
    }

    private func begunWith() throws(DatabaseError) -> String? {
        try database.read { (db) throws(DatabaseError) in
            try db.first("SELECT body FROM part WHERE kind = 'personality'") {
                (row) throws(DatabaseError) in
                String(decoding: try row.bytes(0), as: UTF8.self)
            }
        }
    }

    /// Returns when all of it, or what came after it, is on stable storage.
    ///
    /// - Parameter number: Which state of the world since it was opened this is, because a later one may
    ///   get here first.
    func keep(
        _ changes: Set<Change>,
        of world: World,
        number: Int
    ) async throws(UpstreamError) {
        let parts = changes.map { (place: $0.place, body: world.part($0)) }
        do throws(DatabaseError) {
            try await database.write { (db) throws(DatabaseError) in
                for part in parts { try Self.keep(part.body, at: part.place, number, db) }
            }
        } catch {
            throw .cannotKeep(error)
        }
    }

    /// - Parameter body: Nil if it is gone. That stays written down, lest an earlier state bring it back.
    private static func keep(
        _ body: [UInt8]?,
        at place: Change.Place,
        _ number: Int,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO part (kind, owner, id, number, body) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (kind, owner, id) DO UPDATE
                SET number = excluded.number, body = excluded.body
                WHERE excluded.number > part.number
            """,
            .text(place.kind),
            .text(place.owner),
            .text(place.id),
            .int(number),
            Value(body)
        )
    }

    /// Fills a world that is empty. Accounts come before what they own.
    func restore(_ world: inout World) async throws(UpstreamError) {
        let rows: [(Change.Place, [UInt8])]
        do throws(DatabaseError) {
            rows = try await database.scan { (db) throws(DatabaseError) in
                try db.all(
                    """
                    SELECT kind, owner, id, body FROM part WHERE body IS NOT NULL
                    ORDER BY kind, owner, id
                    """
                ) {
                    (row) throws(DatabaseError) in
                    let place = Change.Place(
                        kind: try row.text(0),
                        owner: try row.text(1),
                        id: try row.text(2)
                    )
                    return (place, try row.bytes(3))
                }
            }
        } catch {
            throw .cannotKeep(error)
        }
        let order = ["account", "organization", "cipher", "file"]
        for kind in order {
            for (place, body) in rows where place.kind == kind {
                try world.take(body, from: place)
            }
        }
    }

    func close() async throws(UpstreamError) {
        defer { lock.letGo() }
        do throws(DatabaseError) {
            try await database.close()
        } catch {
            throw .cannotKeep(error)
        }
    }
}

extension Change {
    /// Where a part is kept.
    struct Place: Sendable, Hashable {
        let kind: String
        var owner = ""
        let id: String
    }

    var place: Place {
        switch self {
        case .account(let id): Place(kind: "account", id: id)
        case .organization(let id): Place(kind: "organization", id: id)
        case .cipher(let owner, let id): Place(kind: "cipher", owner: owner, id: id)
        case .file(let id): Place(kind: "file", id: id)
        }
    }
}
