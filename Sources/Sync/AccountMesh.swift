public import Messaging

/// The services that an account has of its own, connected with each other and with those that accounts share.
public struct AccountMesh: Sendable {
    public let resolver: Resolver
    public let scheduler: SyncScheduler
    public let repository: Repository

    public var services: [any Service] { [resolver, scheduler, repository] }

    public init(
        of userID: String,
        _ upstream: any VaultUpstream,
        _ keys: Keyholder,
        _ lanes: Lanes,
        _ switches: SwitchBoard,
        store: Address<PendingStore.Message>,
        reader: StoreReader,
        monitor: NetworkMonitor,
        policy: SyncPolicy,
        surroundings: Surroundings
    ) {
        resolver = Resolver(
            userID: userID,
            store: store,
            reader: reader,
            upstream: upstream,
            keys: keys,
            lanes: lanes,
            surroundings: surroundings
        )
        scheduler = SyncScheduler(
            userID: userID,
            store: store,
            reader: reader,
            resolver: resolver.address,
            upstream: upstream,
            keys: keys,
            switches: switches,
            monitor: monitor,
            policy: policy,
            surroundings: surroundings
        )
        repository = Repository(
            userID: userID,
            neighbours: Repository.Neighbours(
                store: store,
                reader: reader,
                resolver: resolver.address,
                scheduler: scheduler.address,
                monitor: monitor
            ),
            keys: keys,
            lanes: lanes,
            switches: switches,
            leastClockOffset: { upstream.leastClockOffset },
            surroundings: surroundings
        )
    }
}
