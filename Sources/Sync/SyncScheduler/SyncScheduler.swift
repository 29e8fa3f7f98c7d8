public import Messaging
public import Vault

/// Decides when an account is synced, and syncs it: what is pending first, then what upstream holds.
///
/// One run at a time; whoever asks meanwhile hears of the one that is under way or of the next.
public final class SyncScheduler: Service {
    public var address: Address<Message> { mailbox.address }

    let userID: String
    let store: Address<PendingStore.Message>
    let reader: StoreReader
    let resolver: Address<Resolver.Message>
    let upstream: any VaultUpstream
    let keys: Keyholder
    let switches: SwitchBoard
    let monitor: NetworkMonitor
    let policy: SyncPolicy
    let surroundings: Surroundings
    private let mailbox = Mailbox<Message>(name: "sync-scheduler")

    public init(
        userID: String,
        store: Address<PendingStore.Message>,
        reader: StoreReader,
        resolver: Address<Resolver.Message>,
        upstream: any VaultUpstream,
        keys: Keyholder,
        switches: SwitchBoard,
        monitor: NetworkMonitor,
        policy: SyncPolicy,
        surroundings: Surroundings
    ) {
        self.userID = userID
        self.store = store
        self.reader = reader
        self.resolver = resolver
        self.upstream = upstream
        self.keys = keys
        self.switches = switches
        self.monitor = monitor
        self.policy = policy
        self.surroundings = surroundings
    }

    public var standing: Standing { Standing() }

    public func close() { mailbox.close() }

    public func run() async {
        for await _ in mailbox {}
    }
}

/// What the operator chose about syncing.
public struct SyncPolicy: Hashable, Sendable {
    /// What still pending changes keep from being taken over.
    public enum Abort: String, CaseIterable, Hashable, Sendable {
        /// Everything.
        case whole
        /// Their own items.
        case item
    }

    public var interval: Duration
    public var abort: Abort

    public init(interval: Duration = .seconds(1_800), abort: Abort = .whole) {
        self.interval = interval
        self.abort = abort
    }
}

extension SyncScheduler {
    public enum Message: Sendable {
        /// Somebody asked for a sync and waits for it: `POST /sync`. It is tried in spite of backoff and
        /// of a known outage.
        ///
        /// - `isFull`: Also if upstream says that nothing has changed.
        case sync(isFull: Bool, Reply<SyncReport>)
        /// One change is to be tried now, in spite of backoff and quarantine; its record has been made
        /// ready for that. The answer comes when it was tried.
        case retry(changeID: String, Reply<SyncReport>)
        case trigger(Trigger)
    }

    /// Why a run may be due.
    public enum Trigger: String, CaseIterable, Hashable, Sendable {
        case signedIn, unlocked, networkReturned
        /// An edit has been queued.
        case queued
        /// Upstream told that something has changed there, or that its line is back.
        case upstreamChanged
    }

    /// How syncing stands, for whoever wants to show it.
    public struct Standing: Hashable, Sendable {
        /// When everything was taken over last.
        public var lastSync: Moment?
        public var lastReport: SyncReport?

        public init(lastSync: Moment? = nil, lastReport: SyncReport? = nil) {
            self.lastSync = lastSync
            self.lastReport = lastReport
        }
    }
}
