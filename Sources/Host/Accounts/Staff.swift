import Messaging
import Metrics
import Sync

/// The services of one account, as long as they are on duty.
final class Staff: Service {
    let shift = Shift()
    /// The shift of those before them, who have to have ended first.
    let former: Shift?
    private let mesh: AccountMesh
    private let office: Office
    private let link: ServerLink
    private let hub: HubListener
    private let services: ServiceGroup
    /// For as long as they are there, what goes through their channels is shown.
    private let watches: [ChannelMetrics.Watch]

    init(
        of id: String,
        _ upstream: WatchedUpstream,
        _ keys: Keyholder,
        _ lanes: Lanes,
        _ switches: SwitchBoard,
        _ link: ServerLink,
        _ office: Office,
        after former: Shift?,
        onLogOut heedLogOut: @escaping @Sendable () -> Void,
        copying copy: @escaping @Sendable (BackupFile) async throws(DeskRefusal) -> Bool,
        aftercare: @escaping @Sendable () async -> Duration?
    ) {
        (self.office, self.link, self.former) = (office, link, former)
        let backupFiles = BackupFiles(of: id, office, copying: copy)
        var surroundings = office.surroundings
        surroundings.runs = link.runs
        surroundings.announce = { office.announce($0) }
        surroundings.afterSync = {
            let waits = [await backupFiles.work(), await aftercare()]
            return waits.compactMap(\.self).min()
        }
        let mesh = AccountMesh(
            of: id,
            upstream,
            keys,
            lanes,
            switches,
            store: office.store.address,
            reader: office.store.reader,
            monitor: link.monitor,
            policy: office.policy,
            surroundings: surroundings
        )
        self.mesh = mesh
        let hub = HubListener(
            upstream,
            mesh.scheduler.address,
            link,
            office.surroundings,
            onLogOut: heedLogOut
        )
        self.hub = hub
        services = ServiceGroup(
            mesh.services,
            companions: [{ await hub.run() }],
            patience: .seconds(1),
            time: office.surroundings.timekeeper
        )
        watches = [
            office.channels.watch(mesh.repository.address),
            office.channels.watch(mesh.resolver.address),
            office.channels.watch(mesh.scheduler.address),
        ]
    }

    var resolver: Resolver { mesh.resolver }
    var scheduler: SyncScheduler { mesh.scheduler }
    var repository: Repository { mesh.repository }

    func run() async throws {
        var failure: (any Error)?
        await shift.run {
            await former?.ended()
            do { try await serve() } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func serve() async throws {
        let heart = office.heart
        let pulses = [
            heart.join(.repository, repository.address) { .pulse($0) },
            heart.join(.resolver, resolver.address) { .pulse($0) },
            heart.join(.syncScheduler, scheduler.address) { .pulse($0) },
        ]
        link.join(hub)
        defer {
            link.leave(hub)
            for pulse in pulses { heart.leave(pulse) }
        }
        try await services.run()
    }

    func close() { services.close() }

    /// Ends as soon as everybody who waits for what becomes of an edit has heard it.
    func closeAfterEdits() { repository.close() }

    /// They are not to begin at all: whoever asks them hears so.
    func dismiss() {
        repository.close()
        scheduler.close()
        resolver.close()
        shift.end()
    }
}
