import EmbeddedUpstream
import MeshSupport
import Messaging
import Sync
import Vault

let mail = #"{"type":1,"name":"mail","login":{"username":"ada","password":"first"}}"#
let note = #"{"type":2,"name":"note","notes":"kept","secureNote":{"type":0}}"#

func password(_ text: String) -> String {
    #"{"name":"mail","login":{"username":"ada","password":"\#(text)"}}"#
}

/// Somebody with one login that upstream has and this host knows of.
func withLogin(
    _ personality: Personality.Name = .bitwarden,
    _ item: String = mail,
    story: @Sendable (World, Person, String) async throws -> Void
) async throws {
    try await World.open(personality) { world in
        let ada = try await world.person()
        let id = try await ada.elsewhere.add(item)
        try await ada.refresh()
        try await story(world, ada, id)
    }
}

extension Person {
    /// Edits the item here, and upstream takes that at once.
    func save(
        _ id: String,
        _ json: String,
        after time: Duration = .seconds(10)
    ) async throws {
        let edit = try await edit(id, json, atOnce: true, after: time)
        guard case .saved = try await attempt(edit) else { throw Unexpected("it was not saved") }
    }

    /// Has the account synced from now on as the host does.
    func scheduler() async throws -> SyncScheduler {
        let monitor = NetworkMonitor(
            upstream: "http://localhost",
            probe: { .unreachable },
            surroundings: world.surroundings
        )
        let scheduler = SyncScheduler(
            userID: userID,
            store: world.pendingStore.address,
            reader: world.store.reader,
            resolver: resolver.address,
            upstream: upstream,
            keys: keys,
            switches: SwitchBoard(offlineChanges: .on, resolution: .on),
            monitor: monitor,
            policy: SyncPolicy(),
            surroundings: world.surroundings
        )
        try await world.start(monitor)
        try await world.start(scheduler)
        return scheduler
    }
}

extension SyncScheduler {
    @discardableResult
    func sync(isFull: Bool = true) async throws -> SyncReport {
        try await address.ask { .sync(isFull: isFull, $0) }
    }
}
