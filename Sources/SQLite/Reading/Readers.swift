internal import System

/// Read-only connections for reads that take microseconds.
///
/// A read runs where its caller is: a hop to another thread costs several times the read itself.
/// Whoever finds no idle connection opens another, so nobody waits for anybody; there are never
/// more than threads that read at the same moment.
final class Readers: Sendable {
    private struct Pool {
        var idle: [Session] = []
        var isClosed = false
    }

    private let pool = Lock(Pool())
    private let place: Place
    private let configuration: Configuration

    init(_ place: Place, _ configuration: Configuration) {
        self.place = place
        self.configuration = configuration
    }

    func read<Answer>(
        _ query: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        var taken: Session?
        do throws(DatabaseError) {
            let session = try take()
            taken = session
            let answer = try session.reading(query)
            giveBack(session)
            return answer
        } catch {
            // A connection that met trouble is not trusted with the next read.
            if error.trouble == .refused, let taken { giveBack(taken) }
            configuration.observer?.failed(error)
            throw error
        }
    }

    private func take() throws(DatabaseError) -> Session {
        let (idle, isClosed) = pool.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw .closed(during: "read") }
        if let idle { return idle }
        return try Session.reading(place, configuration)
    }

    private func giveBack(_ session: Session) {
        pool.withLock { pool in
            guard !pool.isClosed, pool.idle.count < configuration.readersKept else { return }
            pool.idle.append(session)
        }
    }

    /// Closes the idle connections now, and those that are reading when they have read.
    func close() {
        pool.withLock { pool in
            pool.isClosed = true
            pool.idle = []
        }
    }
}

extension Session {
    /// One snapshot for the whole closure: what was committed before it began.
    func reading<Answer>(
        _ query: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        try beginReading()
        defer { endReading() }
        return try query(Connection(session: self))
    }
}
