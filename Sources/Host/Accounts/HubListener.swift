import Messaging
import Sync
import System

/// Keeps the account's line to upstream, and passes on what is heard there.
final class HubListener: Service {
    private let hub: Hub
    private let scheduler: Address<SyncScheduler.Message>
    private let link: ServerLink
    private let timekeeper: any Timekeeper
    private let closing = Mailbox<Never>(name: "hub", capacity: 1)
    private let resting = Lock<Mailbox<Never>?>(nil)

    init(
        _ hub: Hub,
        _ scheduler: Address<SyncScheduler.Message>,
        _ link: ServerLink,
        _ timekeeper: any Timekeeper
    ) {
        self.hub = hub
        self.scheduler = scheduler
        self.link = link
        self.timekeeper = timekeeper
    }

    func close() { closing.close() }

    /// Upstream answers again, so there is no reason to wait for the next attempt.
    func tryNow() { resting.withLock { $0 }?.close() }

    func run() async {
        await withDiscardingTaskGroup { parts in
            parts.addTask { await self.listen() }
            for await _ in closing {}
            parts.cancelAll()
        }
    }

    /// A scheduler that has too much to do looks at upstream anyway.
    private func listen() async {
        await hub.run(resting: rest) { news in
            switch news {
            case .connected, .event(_, isOwn: false):
                self.link.heardFromHub()
                try? self.scheduler.tryTell(.trigger(.upstreamChanged))
            case .event(_, isOwn: true), .lost, .signedOut: break
            }
        }
    }

    private func rest(_ duration: Duration) async {
        let rest = Mailbox<Never>(name: "rest", capacity: 1)
        resting.withLock { $0 = rest }
        defer { resting.withLock { $0 = nil } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [timekeeper] in try? await timekeeper.sleep(for: duration) }
            group.addTask { for await _ in rest {} }
            await group.next()
            group.cancelAll()
        }
    }
}
