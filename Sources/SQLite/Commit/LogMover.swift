/// Moves the log into the database on a connection of its own, while the writer goes on.
///
/// In this range of SQLite's versions commits may be lost if a checkpoint begins at the very moment
/// in which another connection starts the log over: it then takes the new log for the old one. Only
/// a commit that finds all of the log moved starts it over, so the writer begins a move only after a
/// commit that came after the move before, and moves nothing itself until it has ended. Something is
/// left to be moved, therefore, until the last thing that a move does.
actor LogMover {
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

    /// As far as no reader stands in the way.
    func move() -> DatabaseError? {
        guard !isClosed else { return nil }
        do throws(DatabaseError) {
            let session = try openSession()
            try session.refuseMoved("checkpoint")
            if let error = session.moveLog(.passive, patience: configuration.patience) {
                throw error
            }
            return nil
        } catch {
            // A connection that met trouble is not trusted with the next move.
            session = nil
            return error
        }
    }

    func close() {
        isClosed = true
        session = nil
    }

    private func openSession() throws(DatabaseError) -> Session {
        if let session { return session }
        let opened = try Session.moving(place, configuration)
        session = opened
        return opened
    }
}
