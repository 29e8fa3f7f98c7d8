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
    private let heedLogOut: @Sendable () -> Void
    private let upstream: AccountUpstream
    private let resting = Lock<Mailbox<Never>?>(nil)

    init(
        _ upstream: AccountUpstream,
        _ scheduler: Address<SyncScheduler.Message>,
        _ link: ServerLink,
        _ alarms: AlarmClock,
        onLogOut heedLogOut: @escaping @Sendable () -> Void
    ) {
        hub = Hub(upstream.account)
        self.upstream = upstream
        self.scheduler = scheduler
        self.link = link
        self.alarms = alarms
        self.heedLogOut = heedLogOut
    }

    /// Upstream answers again, so there is no reason to wait for the next attempt. When it has answered this account,
    /// the token is a good one, too, and not all accounts come at once.
    func networkReturned() {
        upstream.afterNextAnswer { [weak self] in self?.resting.withLock { $0 }?.close() }
    }

    /// Until the task is cancelled or the session is over. A scheduler that has too much to do looks at
    /// upstream anyway.
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
            case .lost, .signedOut: self.upstream.listens(false)
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
    /// Who only makes the key of the password in another way need not log out.
    fileprivate var endsSessions: Bool { kind == .loggedOut && reason != .derivationChanged }
}
