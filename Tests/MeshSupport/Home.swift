public import Messaging
public import Sync
import Vault

/// A person's vault on this host: a repository among the real resolver, store and monitor. Nobody runs
/// syncs here but who asks the resolver.
///
/// ```swift
/// let home = try await ada.home()
/// world.wire.isCut = true
/// let written = try await home.edit(.trash(id))
/// #expect(try await home.view(id)?.item.cipher.isInTrash == true)
/// ```
public struct Home: Sendable {
    public let person: Person
    public let repository: Repository
    public let monitor: NetworkMonitor
    /// What the scheduler is told lies here unread.
    public let schedulerMail: Mailbox<SyncScheduler.Message>

    public func edit(_ wish: Repository.Wish) async throws -> Written<String> {
        person.world.time.pass(.seconds(10))
        return try await repository.address.ask { .edit(wish, $0) }.get()
    }

    public func add(_ json: String) async throws -> Written<String> {
        try await edit(.add(try ItemBody(Array(json.utf8))))
    }

    public func update(_ id: String, _ json: String) async throws -> Written<String> {
        try await edit(.update(id, try ItemBody(Array(json.utf8))))
    }

    public func view(_ id: String) async throws -> ViewedItem? {
        try await repository.address.ask { .view(id, $0) }.get()
    }

    /// All items, by name.
    public var list: [ViewedItem] {
        get async throws {
            try await repository.address.ask { .list($0) }.get()
                .sorted { ($0.item.name ?? "") < ($1.item.name ?? "") }
        }
    }

    public func saveCopy(_ changeID: String) async throws -> Written<String>? {
        try await repository.address.ask { .saveCopy(changeID: changeID, $0) }.get()?
            .map { $0.item.id ?? "" }
    }

    public func discard(_ changeID: String) async throws -> Bool {
        try await repository.address.ask { .discard(changeID: changeID, $0) }.get()
    }

    public func makeReady(_ changeID: String) async throws -> Bool {
        try await repository.address.ask { .makeReady(changeID: changeID, $0) }.get()
    }

    /// The monitor has found out that nobody answers.
    public func loseNetwork() async throws {
        try await monitor.address.tell(.drill(true))
        while monitor.standing.state != .offline { await Task.yield() }
    }

    public func regainNetwork() async throws {
        try await monitor.address.tell(.drill(false))
        try await monitor.address.tell(.heard(.answered))
        while monitor.standing.state != .online { await Task.yield() }
    }
}

extension Person {
    /// Moves in: from then on the person's vault can be seen and edited.
    public func home(_ setting: Switches = .on) async throws -> Home {
        let monitor = NetworkMonitor(
            upstream: "upstream",
            probe: { .answered },
            surroundings: world.surroundings
        )
        let mail = Mailbox<SyncScheduler.Message>(name: "sync-scheduler")
        let switches = SwitchBoard(
            offlineChanges: setting.offlineChanges ? .on : .off,
            resolution: setting.resolution ? .on : .off
        )
        let repository = Repository(
            userID: userID,
            neighbours: Repository.Neighbours(
                store: world.pendingStore.address,
                reader: world.store.reader,
                resolver: resolver.address,
                scheduler: mail.address,
                monitor: monitor
            ),
            keys: keys,
            lanes: lanes,
            switches: switches,
            leastClockOffset: { [upstream] in upstream.leastClockOffset },
            surroundings: world.surroundings
        )
        try await world.start(monitor)
        try await world.start(repository)
        return Home(
            person: self,
            repository: repository,
            monitor: monitor,
            schedulerMail: mail
        )
    }
}
