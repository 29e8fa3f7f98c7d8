import CMicrohttpd

/// How a connection is handed over to whoever speaks its new protocol, and back. Lives on the loop's
/// thread.
final class Handover {
    private enum Stage {
        case begun
        case waiting(CheckedContinuation<UpgradedConnection?, Never>)
        case over
    }

    private var stage = Stage.begun
    private var line: OpaquePointer?

    /// Waits for the connection; `nil` if it cannot be had.
    func connection() async -> UpgradedConnection? {
        guard case .begun = stage else { return nil }
        return await withCheckedContinuation { stage = .waiting($0) }
    }

    func give(_ connection: UpgradedConnection, _ line: OpaquePointer) {
        self.line = line
        end(with: connection)
    }

    /// There will be no connection, if there has been none yet.
    func fail() { end(with: nil) }

    func takeBack() {
        guard let line = line.take() else { return }
        cm_take_back(line)
    }

    private func end(with connection: UpgradedConnection?) {
        defer { stage = .over }
        if case .waiting(let taker) = stage { taker.resume(returning: connection) }
    }
}

extension ServerLoop {
    /// The client has been told, and nothing that it says from now on is for the library. The
    /// connection stays one of the server's.
    func upgraded(_ exchange: Exchange, _ line: OpaquePointer, _ received: [UInt8]) {
        let connection = exchange.connection
        poll.forget(connection.descriptor)
        halfClosed[connection.identity] = nil
        connection.exchange = nil
        connection.upgraded = exchange
        connection.enter(.upgraded, until: nil)
        census.exchangesEnded()
        exchange.upgraded(line, received)
        if isDraining { cutIfIdle(connection) }
    }
}
