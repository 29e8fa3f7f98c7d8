import HTTP
import Messaging
import Metrics
import Sync
import System

/// One server with all that is known of the way there, for all accounts that are on it.
final class ServerLink: Service {
    let upstream: Upstream
    let monitor: NetworkMonitor
    private let heart: Heart
    private let watch: ChannelMetrics.Watch

    init(_ upstream: Upstream, _ office: Office) {
        self.upstream = upstream
        heart = office.heart
        monitor = NetworkMonitor(
            upstream: upstream.bases.server,
            probe: { await Self.probe(upstream) },
            surroundings: office.surroundings
        )
        watch = office.channels.watch(monitor.address)
    }

    /// In spite of what the budget has learnt of the network: finding that out anew is what it is for.
    private static func probe(_ upstream: Upstream) async -> Evidence {
        var manner = Manner()
        manner.isForced = true
        manner.deadline = .seconds(10)
        do {
            try await upstream.probe(manner)
            return .answered
        } catch {
            return Evidence(error) ?? .unreachable
        }
    }

    /// The way to the server may be another one now.
    func linksChanged() {
        upstream.networkChanged()
        try? monitor.address.tryTell(.linksChanged)
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
