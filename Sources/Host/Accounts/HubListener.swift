import Bitwarden
import Messaging
import Sync
import System

/// Keeps the account's line to upstream, and passes on what is heard there.
final class HubListener: Sendable {
    private let hub: Hub
    private let scheduler: Address<SyncScheduler.Message>
    private let link: ServerLink
    private let alarms: AlarmClock
    private let chance: any Chance
    private let heedLogOut: @Sendable () -> Void
    private let upstream: WatchedUpstream
    private let resting = Lock<Mailbox<Never>?>(nil)

    init(
        _ upstream: WatchedUpstream,
        _ scheduler: Address<SyncScheduler.Message>,
        _ link: ServerLink,
        _ surroundings: Surroundings,
        onLogOut heedLogOut: @escaping @Sendable () -> Void
    ) {
        hub = Hub(upstream.account)
        self.upstream = upstream
        self.scheduler = scheduler
        self.link = link
        (alarms, chance) = (surroundings.alarms, surroundings.chance)
        self.heedLogOut = heedLogOut
    }

    /// Upstream answers again, so there is no reason to wait for the next attempt. When it has answered this account,
    /// the token is a good one, too, and not all accounts come at once. One that has nothing to ask does not wait for
    /// that for ever.
    func networkReturned() {
        let tryNow: @Sendable () -> Void = { [weak self] in
            self?.resting.withLock { $0 }?.close()
        }
        upstream.afterNextAnswer(tryNow)
        alarms.set(for: Self.longestSilence * (0.5 + chance.fraction() / 2), tryNow)
    }

    private static let longestSilence = Duration.seconds(10)

    /// Until the task is cancelled. A scheduler that has too much to do looks at upstream anyway.
    func run() async {
        defer { upstream.listens(false) }
        await hub.run(resting: rest) { news in
            switch news {
            case .event(let event, isOwn: false):
                if event.endsSessions { self.heedLogOut() }
                self.hear(.upstreamChanged)
            case .connected:
                self.upstream.listens(true)
                self.hear(.reconnected)
            case .lost: self.upstream.listens(false)
            case .signedOut(let isNew):
                self.upstream.listens(false)
                guard isNew else { return }
                self.link.heardFromHub()
                await self.upstream.noteSignOut()
            case .event(_, isOwn: true): break
            }
        }
    }

    private func hear(_ trigger: SyncScheduler.Trigger) {
        link.heardFromHub()
        try? scheduler.tryTell(.trigger(trigger))
    }

    private func rest(_ duration: Duration) async {
        let rest = Mailbox<Never>(name: "rest", capacity: 1)
        resting.withLock { $0 = rest }
        let alarm = alarms.set(for: duration) { rest.close() }
        for await _ in rest {}
        alarms.cancel(alarm)
        resting.withLock { $0 = nil }
    }
}

extension HubEvent {
    /// Whoever only makes the key of the password in another way need not log out.
    fileprivate var endsSessions: Bool { kind == .loggedOut && reason != .derivationChanged }
}
