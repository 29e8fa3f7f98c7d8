import Crypto
import Host
import JSON
import Messaging
import Sync
import Vault

/// One account at a host: its session, its keys, and the three services that it has of its own.
final class Tenant: Sendable {
    let keys = Keyholder()
    let session: Session
    private let mesh: AccountMesh

    /// What all accounts of a host have in common.
    struct Premises: Sendable {
        let store: StoreReader
        let pendingStore: Address<PendingStore.Message>
        let upstream: Upstream
        let monitor: NetworkMonitor
        let policy: SyncPolicy
        let surroundings: Surroundings
        let keepHolds: @Sendable () async -> Void
    }

    /// As it was left by the process before.
    struct Lease: Sendable {
        let tokens: Tokens
        let keep: @Sendable (Tokens) -> Void
        let signedOut: @Sendable () -> Void
    }

    init(_ former: Lease, in premises: Premises) {
        session = premises.upstream.session(former.tokens) { former.keep($0) }
        let account = WatchedUpstream(
            UpstreamAccount(premises.upstream, session),
            monitor: premises.monitor.address,
            signedOut: { former.signedOut() },
            keepHolds: premises.keepHolds
        )
        mesh = AccountMesh(
            of: former.tokens.userID,
            account,
            keys,
            Lanes(),
            SwitchBoard(offlineChanges: .on, resolution: .on),
            store: premises.pendingStore,
            reader: premises.store,
            monitor: premises.monitor,
            policy: premises.policy,
            surroundings: premises.surroundings
        )
    }

    var resolver: Resolver { mesh.resolver }
    var scheduler: SyncScheduler { mesh.scheduler }
    var repository: Repository { mesh.repository }
    var services: [any Service] { mesh.services }

    func unlock(_ ring: KeyRing) {
        keys.unlock(ring)
        try? scheduler.address.tryTell(.trigger(.unlocked))
    }

    func lock() { keys.lock() }

    /// What is shown, as far as it can be read; nil while nothing is.
    func shown() async -> [PlainItem]? {
        let list = try? await repository.address.ask { .list($0) }.get()
        return list?.compactMap { viewed in
            guard let json = try? JSON.Document(JSON.Raw(viewed.item)) else { return nil }
            return PlainItem(shown: json.root)
        }
    }

    /// A person has what was set aside tried once more.
    func retry(_ changes: [StoredChange]) async {
        for change in changes where change.summary.state == .quarantined {
            let id = change.summary.id
            _ = try? await repository.address.ask { .makeReady(changeID: id, $0) }
            _ = try? await scheduler.address.ask { .retry(changeID: id, $0) }
        }
    }
}
