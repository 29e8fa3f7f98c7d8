internal import SQLite

/// The store as those see it who may only look.
///
/// A read needs no turn: it runs where its caller is and sees all that was committed before it.
/// Whatever is to be changed goes through the mailbox of the ``PendingStore``.
public struct StoreReader: Sendable {
    let database: Database

    func read<Answer>(
        _ query: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(StoreError) -> Answer {
        do throws(DatabaseError) {
            return try database.read(query)
        } catch {
            throw .database(error)
        }
    }
}
