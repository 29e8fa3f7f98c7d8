import Bitwarden
import Crypto
import FoundationEssentials
import Glibc
import HTTP
import Logging
import Messaging
import Metrics
public import Sync
import System

/// Connects the rooms of a host. It only connects.
public enum Wiring {
    /// What goes out into the world: real in the host.
    public struct Outside: Sendable {
        var network: any Network
        var breaches: any BreachRange
        /// Reads anew who is trusted besides those whom the machine trusts; whether it is somebody else than before.
        var trust: @Sendable (_ path: String?) throws -> Bool
        /// Ends all that is under way there. May be asked for again.
        var close: @Sendable () async -> Void

        public static func real(_ settings: HostSettings) throws -> Outside {
            var requests = Client.Configuration()
            requests.proxies = settings.proxies
            let allotment = Allotment()
            requests.keptConnections = allotment.requests
            requests.requestsPerHost = allotment.requests / 2
            var lines = WebSocketClient.Configuration()
            lines.proxies = settings.proxies
            lines.socketLimit = allotment.lines
            let network = try TrustingNetwork(
                requests: requests,
                lines: lines,
                trusting: settings.extraAuthorities
            )
            return Outside(
                network: network,
                breaches: PublicBreachRange { network.client },
                trust: network.trust,
                close: { await network.close() }
            )
        }
    }

    public static func interior(
        _ settings: HostSettings,
        in directory: StateDirectory,
        _ premises: HostServer.Premises,
        _ outside: Outside
    ) async throws -> Interior {
        let (log, registry, timekeeper) = (premises.log, premises.registry, premises.timekeeper)
        let chance = SystemChance()
        let opened = try await openStore(settings, in: directory, premises, chance)
        let store = PendingStore(opened) { log.note($0) }
        // A million for each second: more than there can be.
        let board = EventBoard(from: Int(timekeeper.now.timeIntervalSince1970) * 1_000_000)
        let thread = try WorkshopThread()
        let surroundings = Surroundings(
            timekeeper: timekeeper,
            chance: chance,
            bootID: bootID,
            metrics: SyncMetrics(registry),
            log: log,
            announce: board.post
        )
        let heart = Heart(surroundings: surroundings)
        let channels = ChannelMetrics(
            registry,
            channels: SyncMetrics.Actor.allCases.map(\.rawValue),
            timekeeper: timekeeper
        )
        let storeWatch = channels.watch(store.address)
        let accounts = Accounts(
            Accounts.Options(settings, directory),
            store: store,
            key: try HostKey(at: directory.file(HostKey.fileName)),
            workshop: thread.workshop,
            identity: ClientIdentity(device: try await device(opened, chance)),
            network: DrillNetwork(outside.network),
            board: board,
            heart: heart,
            channels: channels,
            registry: registry,
            surroundings: surroundings
        )
        try accounts.bringUp()
        let shift = Shift()
        let services = Services(
            accounts: accounts,
            store: store,
            heart: heart,
            pulse: heart.join(.pendingStore, store.address) { .pulse($0) },
            surroundings: surroundings
        )
        let api = VaultAPI(
            household: accounts,
            timekeeper: timekeeper,
            breaches: outside.breaches,
            verify: { () async throws(StoreError) in
                try await StateCheck.verify(opened, in: directory)
            },
            log: log
        )
        return Interior(
            household: accounts,
            inside: Gate.Inside(api),
            tally: { try? opened.reader.tally() },
            isAlive: { heart.isBeating },
            run: { await shift.run { await services.run() } },
            trust: { path in
                guard try outside.trust(path) else { return false }
                // Who was not trusted until now need not be waited for.
                accounts.linksChanged()
                return true
            },
            hangUp: { board.close() },
            giveUp: {
                thread.workshop.close()
                await outside.close()
            },
            close: {
                accounts.close()
                thread.workshop.close()
                await shift.ended()
                await outside.close()
                do {
                    try await opened.close()
                } catch {
                    log.error("The store was not closed in order.", because: error)
                }
                // Held until here: the figures of the store's channel end with it.
                _ = storeWatch
            },
            conclude: { thread.stop() }
        )
    }

    /// Opens the store, which is measured from then on, and writes down how it was found.
    private static func openStore(
        _ settings: HostSettings,
        in directory: StateDirectory,
        _ premises: HostServer.Premises,
        _ chance: SystemChance
    ) async throws -> Store {
        let (log, registry, timekeeper) = (premises.log, premises.registry, premises.timekeeper)
        var options = Store.Options()
        options.limits.changes = settings.maxPending
        options.measure(by: StoreMetrics(registry), timekeeper, log)
        options.setAside = { log.error("A damaged database was set aside.", ["damaged": $0]) }
        registry.registerDisk(of: directory)
        let (store, condition) = try await Store.open(
            in: directory,
            options: options,
            time: timekeeper,
            chance: chance
        )
        log.note(condition)
        log.note(strangers: (try? store.reader.strangers()) ?? [:])
        return store
    }

    /// Names this boot of the machine.
    private static var bootID: String {
        let bytes = (try? Files.read("/proc/sys/kernel/random/boot_id")) ?? []
        return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// As whom this host signs in: the same device for as long as its state lives.
    private static func device(_ store: Store, _ chance: any Chance) async throws -> Device {
        let known = try store.reader.setting("device")
        let identifier = known ?? chance.identifier()
        if known == nil { try await store.set("device", to: identifier) }
        return Device(type: 25, identifier: identifier, name: "holdfast")
    }
}

/// The services of a host, and the order in which they end.
private struct Services: Sendable {
    let accounts: Accounts
    let store: PendingStore
    let heart: Heart
    /// The store's.
    let pulse: Heart.Pulse
    let surroundings: Surroundings

    func run() async {
        let ending = Mailbox<Never>(name: "routes", capacity: 1)
        await withDiscardingTaskGroup { services in
            services.addTask { await store.run() }
            services.addTask { await heart.run() }
            services.addTask { await surroundings.alarms.run() }
            services.addTask { await watchRoutes(until: ending) }
            services.addTask {
                await accounts.run()
                // What the accounts had to write down is in its mailbox by now.
                store.close()
                heart.leave(pulse)
                heart.close()
                surroundings.alarms.close()
                ending.close()
            }
        }
    }

    /// Without the right to listen, traffic and probes tell.
    private func watchRoutes(until ending: Mailbox<Never>) async {
        let routes: Routes
        do throws(SystemError) {
            routes = try Routes()
        } catch {
            surroundings.log.warning(
                "Changes of the network's links are not heard of.",
                because: error
            )
            return
        }
        await withDiscardingTaskGroup { listening in
            listening.addTask { for await _ in routes.changes { accounts.linksChanged() } }
            for await _ in ending {}
            listening.cancelAll()
        }
    }
}

extension Accounts.Options {
    fileprivate init(_ settings: HostSettings, _ directory: StateDirectory) {
        self.init(cacheDirectory: directory.file(FileCache.directoryName))
        defaultServer = settings.upstream
        policy = SyncPolicy(interval: settings.syncInterval, abort: settings.abortPolicy)
        offlineChanges = settings.offlineChanges
        resolution = settings.resolution
    }
}

extension Gate.Inside {
    fileprivate init(_ api: VaultAPI) {
        self.init(routes: VaultAPI.requests) { request in
            let way = VaultAPI.way(of: request)
            return Gate.Passage(name: way.name, scope: way.scope) { caller in
                await api.answer(request, on: way, from: caller)
            }
        }
    }
}

extension Logger {
    fileprivate func note(_ condition: Store.Condition) {
        switch condition {
        case .whole: break
        case .salvaged(let changes, let damaged):
            error(
                "The database was damaged; what was pending has been carried over.",
                ["changes": changes, "damaged": damaged]
            )
        case .restored(let changes):
            error(
                "The database was gone; what was pending is from its copy. All accounts have to sign in.",
                ["changes": changes]
            )
        case .caughtUp(let changes):
            error(
                "The database was older than the copy of what is pending; that has been taken over.",
                ["changes": changes]
            )
        case .cutShort(let log, let changes):
            error(
                "The log of the database was damaged, and what came behind that is lost but for what its copy had.",
                ["changes": changes, "damaged": log]
            )
        case .mended(let findings):
            error(
                "Indexes of the database were damaged and have been made anew. Check the disk.",
                ["findings": findings.joined(separator: "; ")]
            )
        }
    }

    fileprivate func note(strangers: [String: Int]) {
        guard !strangers.isEmpty else { return }
        error(
            "Changes wait of accounts that are not here. They are sent once their owners sign in again.",
            ["accounts": strangers.count, "changes": strangers.values.reduce(0, +)]
        )
    }

    fileprivate func note(_ report: ChoreReport) {
        guard let error = report.error else { return }
        warning(
            "A chore of the store has failed.",
            because: error,
            ["chore": report.chore.rawValue]
        )
    }
}
