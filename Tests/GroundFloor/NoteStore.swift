import Messaging
import SQLite

/// Keeps notes. A note is answered when it is on the disk.
actor NoteStore: Service {
    enum Message: Sendable {
        case keep([UInt8], Reply<Result<Int, DatabaseError>>)
    }

    static let channel = "note-store"

    nonisolated var address: Address<Message> { mailbox.address }

    private nonisolated let mailbox: Mailbox<Message>
    private let database: Database

    init(database: Database, capacity: Int) {
        mailbox = Mailbox(name: Self.channel, capacity: capacity)
        self.database = database
    }

    nonisolated func close() { mailbox.close() }

    /// The notes are kept side by side, so that those which arrive together share a commit.
    func run() async {
        await withDiscardingTaskGroup { steps in
            for await message in mailbox {
                steps.addTask { [database] in await Self.carryOut(message, on: database) }
            }
        }
    }

    private static func carryOut(_ message: Message, on database: Database) async {
        switch message {
        case .keep(let text, let reply):
            await reply.answer { () throws(DatabaseError) in
                try await database.write { (db) throws(DatabaseError) in
                    try db.first("INSERT INTO note (text) VALUES (?) RETURNING id", .blob(text)) {
                        (row) throws(DatabaseError) in try row.int(0)
                    } ?? 0
                }
            }
        }
    }

    static let migrations = [
        Migration("notes") { (db) throws(DatabaseError) in
            try db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text BLOB NOT NULL)")
        }
    ]
}
