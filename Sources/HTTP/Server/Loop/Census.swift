import Synchronization

/// How much is going on in a server. May be read from any thread.
final class Census: Sendable {
    let connections = Atomic(0)
    let lingering = Atomic(0)
    let handlers = Atomic(0)
    let exchanges = Atomic(0)

    func exchangesBegan() { exchanges.add(1, ordering: .relaxed) }
    func exchangesEnded() { exchanges.subtract(1, ordering: .relaxed) }

    func update(connections: Int, lingering: Int) {
        self.connections.store(connections, ordering: .relaxed)
        self.lingering.store(lingering, ordering: .relaxed)
    }
}
