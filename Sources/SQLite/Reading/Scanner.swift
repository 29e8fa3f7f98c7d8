internal import CSQLite

/// A read-only connection of its own for reads that take long: scans and checks.
///
/// They run one after the other, away from the shared pool, and end when their caller is cancelled.
actor Scanner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private let place: Place
    private let configuration: Configuration
    private var session: Session?
    private var isClosed = false

    init(
        _ place: Place,
        _ configuration: Configuration,
        on executor: any SerialExecutor & TaskExecutor
    ) {
        self.place = place
        self.configuration = configuration
        self.executor = executor
    }

    func scan<Answer: Sendable>(
        _ query: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        try using { (session) throws(DatabaseError) in try session.reading(query) }
    }

    func integrityCheck() throws(DatabaseError) -> [String] {
        try using { (session) throws(DatabaseError) in try session.integrityCheck() }
    }

    func close() {
        isClosed = true
        session = nil
    }

    private func using<Answer>(
        _ body: (Session) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        do throws(DatabaseError) {
            return try body(try openSession())
        } catch {
            // A connection that met trouble is not trusted with the next scan.
            if error.trouble != .refused { session = nil }
            configuration.observer?.failed(error)
            throw error
        }
    }

    private func openSession() throws(DatabaseError) -> Session {
        guard !isClosed else { throw .closed(during: "scan") }
        guard !Task.isCancelled else { throw .cancelled(during: "scan") }
        if let session { return session }
        let opened = try Session.reading(place, configuration)
        opened.stopWhenCancelled()
        session = opened
        return opened
    }
}

extension Session {
    private static let instructionsBetweenLooks: Int32 = 1_000

    /// Asks now and then whether the task that reads has been cancelled. Unlike `sqlite3_interrupt`
    /// from another thread, this can neither come too early nor hit the next query.
    func stopWhenCancelled() {
        sqlite3_progress_handler(handle, Self.instructionsBetweenLooks, Self.isCancelled, nil)
    }

    private static let isCancelled: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in
        Task.isCancelled ? 1 : 0
    }
}
