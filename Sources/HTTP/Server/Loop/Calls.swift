import CMicrohttpd
import Synchronization

// MARK: What the library says, and when it may

extension ServerLoop {
    func opened(_ handle: OpaquePointer, _ descriptor: Int32) -> Connection {
        let connection = Connection(
            handle: handle,
            identity: newIdentity(),
            descriptor: descriptor,
            door: arriving?.door ?? .memory,
            peer: arriving?.peer ?? .memory
        )
        connections[connection.identity] = connection
        count()
        poll.watchDeparture(descriptor, as: connection.identity)
        connection.restsSince = now
        if connection.door.isHandedDown {
            connection.enter(.idle, until: nil)
        } else {
            connection.enter(.head, until: now + limits.headTime)
        }
        look(at: connection)
        return connection
    }

    func closed(_ connection: Connection) {
        poll.forget(connection.descriptor)
        connections[connection.identity] = nil
        count()
        halfClosed[connection.identity] = nil
        if connection.mustLinger { linger(cm_duplicate(connection.descriptor)) }
    }

    /// At once, and not at the end of a turn in which handlers may have been called already.
    private func count() {
        census.connections.store(connections.count, ordering: .relaxed)
    }

    func targeted(_ connection: Connection, _ target: [UInt8]) -> Exchange {
        let exchange = Exchange(loop: self, connection: connection, target: target)
        connection.exchange = exchange
        census.exchangesBegan()
        connection.enter(.head, until: now + limits.headTime)
        look(at: connection)
        return exchange
    }

    func completed(_ exchange: Exchange, isDelivered: Bool) {
        let connection = exchange.connection
        exchange.completed(isDelivered: isDelivered)
        if connection.upgraded != nil {
            connection.upgraded = nil
            return
        }
        connection.exchange = nil
        census.exchangesEnded()
        guard connection.phase != .cut else { return leaving.append(connection) }
        connection.restsSince = now
        let isPatient = connection.door.isHandedDown
        connection.enter(.idle, until: isPatient ? nil : now + limits.idleTime)
        look(at: connection)
        if isDraining { cutIfIdle(connection) }
    }

    func runLibrary() {
        guard let daemon, mustRun || patienceWithLibrary > 0 else { return }
        let callsBefore = calls
        mustRun = false
        cm_run(daemon)
        for exchange in restless { exchange.rest() }
        restless.removeAll(keepingCapacity: true)
        guard cm_is_pending(daemon) != 0 else {
            patienceWithLibrary = 0
            pendingSince = nil
            return
        }
        patienceWithLibrary = calls == callsBefore ? patienceWithLibrary + 1 : 1
        let since = pendingSince ?? now
        pendingSince = since
        if now - since > Self.patienceTime { cutStuck(since: since) }
    }

    /// Turns in which the library wants to run but calls nobody, before it is given a rest between.
    static var hurry: Int { 1_000 }

    /// How long the library may want to run before it is helped.
    private static var patienceTime: Duration { .milliseconds(50) }

    /// A chunk extension that fills the library's whole buffer leaves it wanting to run for ever,
    /// without reading on. Whoever has sent more and was not heard meanwhile is such a client; that the library wants
    /// to run is no sign of one, for a large body that comes fast has it do so too.
    private func cutStuck(since: Duration) {
        pendingSince = now
        for connection in connections.values where connection.isStuck(since: since, at: now) {
            connection.say(Refusal.malformed("The chunks cannot be told apart.").response)
            cut(connection)
        }
    }
}
