import Logging
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
    private let office: Office
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
        self.office = office
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
            probe: { await Self.probe(upstream) },
            surroundings: surroundings
        )
        watch = office.channels.watch(monitor.address)
        restoreHolds()
    }

    // MARK: Until when the server wants to be left alone

    private var setting: String { "not before \(upstream.bases.server)" }

    /// That the host was restarted is nothing to the server.
    private func restoreHolds() {
        guard let text = try? office.store.reader.setting(setting), let holds = Holds(text)
        else { return }
        upstream.holds = holds
        // Until then it is as troubled as it was.
        if upstream.holds.api != nil { try? monitor.address.tryTell(.heard(.troubled)) }
    }

    func keepHolds() async {
        do {
            var holds = upstream.holds
            holds.noted = office.surroundings.now
            let text = holds.text
            let _: Void = try await office.ask { .set(setting, to: text, $0) }
        } catch {
            office.surroundings.log.warning("A wait was not kept for a restart.", because: error)
        }
    }

    /// In spite of what the budget has learnt of the network and of limits: finding that out anew is what it is
    /// for, and it is the smallest of questions.
    ///
    /// Not while a guard wants this host gone, though: nobody insists on it.
    private static func probe(_ upstream: Upstream) async -> Evidence {
        if upstream.isBanned { return .unreachable }
        var manner = Manner()
        manner.isForced = true
        manner.isWaitedFor = true
        manner.deadline = .seconds(10)
        do {
            try await upstream.probe(manner)
            // That it is there does not say that it takes anything again.
            return upstream.restsFor == nil ? .answered : .troubled
        } catch {
            return Evidence(error) ?? .unreachable
        }
    }

    func join(_ listener: HubListener) { listeners.add(listener) }
    func leave(_ listener: HubListener) { listeners.remove(listener) }

    /// The way to the server may be another one now.
    func linksChanged() {
        upstream.networkChanged()
        try? monitor.address.tryTell(.linksChanged)
    }

    /// The server is there. Whoever waits for the network comes at once now, and is not to be held up
    /// by what requests found out while it was away.
    func heardFromHub() {
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
