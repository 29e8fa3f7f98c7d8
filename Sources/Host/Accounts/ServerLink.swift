import Messaging
import Metrics
import Sync
import System

/// One server with all that is known of the way there, for all accounts that are on it.
final class ServerLink: Service {
    let upstream: Upstream
    /// Of the host's servers.
    let number: Int
    let monitor: NetworkMonitor
    let runs = RunTurns()
    private let holds: KeptHolds
    private let heart: Heart
    private let watch: ChannelMetrics.Watch
    /// Who wants to hear that the server answers again.
    private let listeners = Listeners()

    private final class Listeners: Sendable {
        private let present = Lock<[ObjectIdentifier: HubListener]>([:])

        var everybody: [HubListener] { present.withLock { Array($0.values) } }

        func add(_ listener: HubListener) {
            present.withLock { $0[ObjectIdentifier(listener)] = listener }
        }

        func remove(_ listener: HubListener) {
            present.withLock { $0[ObjectIdentifier(listener)] = nil }
        }
    }

    init(_ upstream: Upstream, number: Int, _ office: Office) {
        self.upstream = upstream
        self.number = number
        heart = office.heart
        let listeners = listeners
        var surroundings = office.surroundings
        surroundings.announce = { event in
            office.announce(event)
            guard case .network(_, .online) = event else { return }
            for listener in listeners.everybody { listener.networkReturned() }
        }
        monitor = NetworkMonitor(
            upstream: upstream.bases.server,
            probe: { await upstream.probeNetwork() },
            surroundings: surroundings
        )
        watch = office.channels.watch(monitor.address)
        holds = KeptHolds(upstream, office.store, surroundings)
        // Until then it is as troubled as it was.
        if holds.restore() { try? monitor.address.tryTell(.heard(.troubled)) }
    }

    func keepHolds() async { await holds.keep() }

    func join(_ listener: HubListener) { listeners.add(listener) }
    func leave(_ listener: HubListener) { listeners.remove(listener) }

    /// The way to the server may be another one now.
    func linksChanged() {
        upstream.networkChanged()
        try? monitor.address.tryTell(.linksChanged)
    }

    /// The server is there. Whoever waits for the network comes at once now, and is not to be held up
    /// by what requests found out while it was away. A guard that lets requests through no more leaves lines that
    /// are open alone.
    func heardFromHub() {
        guard !upstream.isBanned else { return }
        if monitor.standing.state == .offline { upstream.networkChanged() }
        // Its line does not say whether it takes anything again.
        let evidence: Evidence = upstream.holds.api == nil ? .answered : .troubled
        try? monitor.address.tryTell(.heard(evidence))
    }

    func run() async {
        let pulse = heart.join(.networkMonitor, monitor.address) { .pulse($0) }
        defer { heart.leave(pulse) }
        await withTaskGroup { parts in
            parts.addTask { await self.upstream.run() }
            parts.addTask { await self.monitor.run() }
            // The monitor ends when it is closed; what the upstream runs for has then ended, too.
            await parts.next()
            parts.cancelAll()
        }
    }

    func close() { monitor.close() }
}
