import Crypto
import Logging
import Messaging
import Metrics
import Sync
import System
import Vault

/// All accounts of this host, and the servers that they are on.
final class Accounts: Service {
    /// What the host is told about its accounts.
    struct Options: Sendable {
        /// For accounts that name none.
        var defaultServer: String?
        var policy = SyncPolicy()
        var offlineChanges = SwitchBoard.Setting.on
        var resolution = SwitchBoard.Setting.on
        var cacheDirectory: String
    }

    let options: Options
    let office: Office
    let identity: ClientIdentity
    let drill: DrillNetwork
    let began: Moment
    let board: EventBoard
    private let metrics: UpstreamMetrics
    /// Who signs in, moves or is taken away, by the account's id.
    let admissions = Lanes()
    /// Who chooses whose vault is meant where nobody is named.
    let choices = Lanes()
    /// Who takes the network away or gives it back.
    let drills = Lanes()
    private let state = Lock(State())

    struct State {
        var residents = Residents()
        /// The services of accounts that were erased, for as long as they may still be running.
        var former: [String: Shift] = [:]
        /// Who is to be the first of all, and is not there yet.
        var first: String?
        /// Who is still in the store, and whom nobody has heard of.
        var newcomers: [AccountRecord] = []
        var links = ServerLinks()
        var drillSince: Moment?
        var drillEnded: Moment?
    }

    init(
        _ options: Options,
        store: PendingStore,
        key: HostKey,
        workshop: Workshop,
        identity: ClientIdentity,
        network: DrillNetwork,
        board: EventBoard,
        heart: Heart,
        channels: ChannelMetrics,
        registry: Registry,
        surroundings: Surroundings
    ) {
        self.options = options
        self.identity = identity
        drill = network
        began = surroundings.now
        self.board = board
        metrics = UpstreamMetrics(registry)
        office = Office(
            store: store,
            key: key,
            workshop: workshop,
            policy: options.policy,
            offlineChanges: options.offlineChanges,
            resolution: options.resolution,
            cacheDirectory: options.cacheDirectory,
            heart: heart,
            channels: channels,
            surroundings: surroundings
        )
    }

    // MARK: Running

    /// Brings up the accounts that are in the store, before anybody is let in.
    func bringUp() throws(DeskRefusal) {
        let stored = try office.read { reader throws(StoreError) in try reader.accounts() }
        FileCache(office.cacheDirectory).keepOnly(Set(stored.map(\.id)))
        for account in stored {
            do {
                let record = try AccountRecord(account)
                if record.isNewcomer, try hasNothingPending(record.id) {
                    state.withLock { $0.newcomers.append(record) }
                } else {
                    try bringUp(record, tokens: tokens(of: record))
                }
            } catch {
                office.surroundings.log.error("An account cannot be brought up.", because: error)
            }
        }
    }

    private func tokens(of record: AccountRecord) -> Tokens {
        let kept = record.sealedTokens.flatMap(office.key.openTokens)
        if kept == nil, record.sealedTokens != nil {
            office.surroundings.log.error(
                "This host.key has not sealed what is kept of a session. Put the right one back.",
                ["account": record.id]
            )
        }
        return kept
            ?? Tokens(
                userID: record.id,
                access: "",
                expires: Moment(ticks: 0),
                renewal: .none
            )
    }

    @discardableResult
    func bringUp(
        _ record: AccountRecord,
        tokens: Tokens,
        after former: Shift? = nil,
        in lanes: Lanes = Lanes()
    ) throws(DeskRefusal) -> Account {
        let link = try link(to: record.server)
        let account = Account(
            record,
            tokens: tokens,
            link: link,
            office: office,
            after: former,
            in: lanes
        )
        state.withLock { $0.residents.add(account, record) }
        office.addresses.note(record.email, of: record.id)
        office.roll.note(record.id)
        account.takePlace()
        return account
    }

    func link(to address: String) throws(DeskRefusal) -> ServerLink {
        let bases: Bases
        do throws(Bases.Flaw) {
            bases = try Bases(address)
        } catch {
            throw .notAllowed(error.description)
        }
        let (link, isNew) = state.withLock { state in
            let isDrill = state.drillSince != nil
            return state.links.link(to: bases.server, at: office.surroundings.timekeeper.elapsed) {
                let link = ServerLink(upstream(bases), number: $0, office)
                // In turn with whoever ends the drill, who tells those that are there by then.
                if isDrill { try? link.monitor.address.tryTell(.drill(true)) }
                return link
            }
        }
        if isNew {
            office.roster.start(link) { link.close() }
            // The vaults may all be locked, so that nobody else asks whether it is there.
            try? link.monitor.address.tryTell(.reliedOn)
        }
        return link
    }

    private func upstream(_ bases: Bases) -> Upstream {
        Upstream(
            bases,
            identity: identity,
            world: Upstream.World(
                network: drill,
                timekeeper: office.surroundings.timekeeper,
                chance: office.surroundings.chance,
                alarms: office.surroundings.alarms
            ),
            metrics: metrics
        )
    }

    func run() async {
        await withDiscardingTaskGroup { services in
            await withTaskGroup(of: Void.self) { duty in
                duty.addTask { await self.changeShifts() }
                duty.addTask { await self.erase(newcomers: self.state.withLock(\.newcomers)) }
                for await service in office.roster.arrivals {
                    services.addTask { await self.run(service) }
                }
                duty.cancelAll()
            }
            for account in everybody { account.close() }
            for link in links { link.close() }
        }
    }

    /// Wakes whoever is due, and lets those rest whom nobody needs.
    private func changeShifts() async {
        let (roster, timekeeper) = (office.roster, office.surroundings.timekeeper)
        repeat {
            for id in roster.takeDue(at: timekeeper.elapsed) { _ = account(id)?.staff }
            for account in roster.onDuty { account.rest() }
            leaveIdleServers(at: timekeeper.elapsed)
        } while (try? await timekeeper.sleep(for: Roster.period)) != nil
    }

    func leaveIdleServers(at elapsed: Duration) {
        let idle = state.withLock { state in
            let residents = state.residents
            return state.links.dropIdle(at: elapsed) { residents.areOn($0) }
        }
        for link in idle { link.close() }
    }

    private func run(_ service: any Service) async {
        do {
            try await service.run()
        } catch let failure as ServiceFailure where failure.reason is TookTooLong {
            // Somebody has taken the account away while upstream owed it an answer.
            office.surroundings.log.notice(
                "A service was not waited for.",
                ["service": failure.service]
            )
        } catch {
            office.surroundings.log.error("A service has failed.", because: error)
        }
    }

    func close() { office.roster.arrivals.close() }

    // MARK: Who is there

    var everybody: [Account] { state.withLock { $0.residents.inOrder } }

    /// A link or a route of this machine is another one now.
    func linksChanged() {
        for link in links { link.linksChanged() }
    }

    var links: [ServerLink] { state.withLock { $0.links.all } }

    func account(_ id: String) -> Account? { state.withLock { $0.residents[id] } }

    /// Those with this address, in the order in which they came.
    func accounts(withAddress email: String) -> [Account] {
        let ids = office.addresses.ids(at: email)
        return state.withLock { $0.residents.all(of: ids) }
    }

    /// - Returns: Whether it is the first account of all. Of several that come at once, only one is.
    func claimFirst(_ id: String) -> Bool {
        state.withLock { state in
            guard state.residents.inOrder.isEmpty, state.first == nil else { return false }
            state.first = id
            return true
        }
    }

    /// It is there now, or does not come.
    func waiveFirst(_ id: String) {
        state.withLock { if $0.first == id { $0.first = nil } }
    }

    /// On that server only: an account with this address elsewhere has other keys and another second factor. So has the
    /// one there that was made anew since.
    func account(withAddress email: String, at link: ServerLink) -> Account? {
        accounts(withAddress: email).last { $0.link.number == link.number }
    }

    /// It is not kept any more, so nothing more is done in its name.
    func end(_ account: Account) {
        account.noteErasure()
        account.session.signOut()
        account.lockKeys()
        let shift = forget(account)
        state.withLock { state in
            state.former = state.former.filter { !$0.value.isOver }
            state.former[account.id] = shift
        }
    }

    /// The services of an account that was erased and had this id. Those of an account that comes back under it wait
    /// for them to end.
    func former(_ id: String) -> Shift? { state.withLock { $0.former[id] } }

    @discardableResult
    func forget(_ account: Account, letsEditsEnd: Bool = false) -> Shift? {
        state.withLock { $0.residents.remove(account.id) }
        office.addresses.forget(account.id)
        office.roll.note(account.id)
        return account.close(letsEditsEnd: letsEditsEnd)
    }
}

// MARK: - The household

extension Accounts: Household {
    var desks: [any AccountDesk] { everybody }

    var summary: HouseholdSummary {
        get async {
            // With thousands of accounts it takes a while.
            await offTheLoop { summarized() }
        }
    }

    private func summarized() -> HouseholdSummary {
        let (now, elapsed) = (office.surroundings.now, office.surroundings.timekeeper.elapsed)
        let roads = links.map { link in
            let road = Roll.Road(
                state: link.monitor.standing.state,
                heldUntil: link.upstream.holds.api,
                clockOffset: link.upstream.clockOffset
            )
            return (link.number, road)
        }
        var summary = office.roll.summary(
            at: now,
            elapsed,
            servers: Dictionary(uniqueKeysWithValues: roads)
        ) {
            (try? office.read { reader throws(StoreError) in try reader.queues() }) ?? [:]
        } oldestLive: { ids in
            try? office.read { reader throws(StoreError) in try reader.oldestLive(of: ids) }
        } ask: { id in
            account(id)?.entry
        }
        summary.oldest = try? office.read { reader throws(StoreError) in try reader.oldest() }
        let strangers = try? office.read { reader throws(StoreError) in try reader.strangers() }
        summary.count(strangers ?? [:])
        return summary
    }

    func desk(_ id: String) -> (any AccountDesk)? { account(id) }

    func setServer(_ address: String, of id: String) async throws(DeskRefusal) {
        try await admissions.hold(id) { () async throws(DeskRefusal) in
            guard let moved = try await move(id, to: address) else { return }
            moved.noteMove()
            office.announce(.account(userID: id))
        }
    }

    /// To be called while nobody else can sign in the account, move it or take it away.
    ///
    /// - Returns: The account on the other server, to be told of the move once its session belongs there; nil if the
    ///   address is only another spelling of the same server.
    func move(_ id: String, to address: String) async throws(DeskRefusal) -> Account? {
        guard let account = account(id) else { throw .notFound }
        let link = try link(to: address)
        // Whoever waits to note something of it finds the one that is there by then.
        return try await office.records.hold(id) { () async throws(DeskRefusal) in
            try await account.put { $0.server = address }
            guard link.number != account.link.number else { return nil }
            let (record, tokens) = (account.record, account.session.tokens)
            let former = forget(account, letsEditsEnd: true)
            let moved = try bringUp(record, tokens: tokens, after: former, in: account.lanes)
            moved.takeKeys(from: account)
            _ = moved.staff
            return moved
        }
    }

    func remove(_ id: String, discardingPending: Bool) async throws(DeskRefusal) {
        try await admissions.hold(id) { () async throws(DeskRefusal) in
            guard let account = account(id) else { throw .notFound }
            try await remove(account, discardingPending: discardingPending)
        }
        try await preferTheOnlyOne()
        office.announce(.account(userID: id))
    }

    private func remove(
        _ account: Account,
        discardingPending: Bool
    ) async throws(DeskRefusal) {
        // Nothing is to be noted of it between its end in the store and its end here.
        let left = try await office.records.hold(account.id) { () async throws(DeskRefusal) in
            let left = try await erase(account.id, evenIfPending: discardingPending)
            end(account)
            return left
        }
        for path in left {
            office.surroundings.log.warning(
                "A file that was set aside may still have rows of the account.",
                ["path": path]
            )
        }
        account.emptyCache()
    }

    private func erase(
        _ id: String,
        evenIfPending: Bool
    ) async throws(DeskRefusal) -> [String] {
        let erasure: Erasure = try await office.ask {
            .account(.erase(id, evenIfPending: evenIfPending, $0))
        }
        switch erasure {
        case .erased(let discarded, let left):
            let metrics = office.surroundings.metrics
            for tally in discarded { metrics.resolved(tally.type, .discarded, count: tally.count) }
            return left
        case .pending(let count):
            throw .notAllowed(
                "\(count) pending change\(count == 1 ? "" : "s") would be lost."
                    + " Add ?discardPending=true to erase them too."
            )
        }
    }

    var network: NetworkStanding { standing }

    private var standing: NetworkStanding {
        let (residents, links, drillSince, drillEnded) = state.withLock {
            ($0.residents.inOrder, $0.links.all, $0.drillSince, $0.drillEnded)
        }
        if let drillSince {
            return NetworkStanding(isDrill: true, state: .offline, since: drillSince)
        }
        // The worst of them: one server that is away is what somebody wants to know.
        let order: [NetworkState] = [.offline, .degraded, .online]
        // What nobody uses any more stands as it was left.
        let used = Set(residents.map(\.link.number))
        let standings = links.filter { used.contains($0.number) }.map(\.monitor.standing)
        for wanted in order {
            if let since = standings.filter({ $0.state == wanted }).map(\.since).min() {
                return NetworkStanding(isDrill: false, state: wanted, since: since)
            }
        }
        return NetworkStanding(isDrill: false, state: .online, since: drillEnded ?? began)
    }

    @discardableResult
    func setDrill(_ isOn: Bool) async -> NetworkStanding {
        // Of two who wish at once, whoever hears last what has become of it has had their way.
        await drills.hold(Self.drillLane) {
            await turn(isOn)
            return standing
        }
    }

    static let drillLane = "drill"

    private func turn(_ isOn: Bool) async {
        drill.isDrill = isOn
        let now = office.surroundings.now
        state.withLock { state in
            if !isOn, state.drillSince != nil { state.drillEnded = now }
            state.drillSince = isOn ? state.drillSince ?? now : nil
        }
        for link in links {
            if !isOn { link.upstream.networkChanged() }
            // Whoever has left by now asks nobody any more.
            try? link.monitor.address.tryTell(.drill(isOn))
        }
        await withTaskGroup(of: Void.self) { looks in
            looks.addTask { await self.tellMonitors(ofDrill: isOn) }
            looks.addTask {
                try? await self.office.surroundings.timekeeper.sleep(for: Self.longestLook)
            }
            await looks.next()
            looks.cancelAll()
        }
    }

    /// So that what is tried right after a drill finds the network as it is.
    private static let longestLook = Duration.seconds(2)

    private func tellMonitors(ofDrill isOn: Bool) async {
        await withDiscardingTaskGroup { looks in
            for link in links {
                looks.addTask { try? await link.monitor.address.ask { .drill(isOn, $0) } }
            }
        }
    }

    func listen(
        after number: Int?,
        where isHeard: (MeshEvent) -> Bool,
        _ body: (AsyncStream<NumberedEvent>) async throws -> Void
    ) async throws {
        let everyone = number == nil ? [] : everybody
        // The last has the number from which one goes on, so it must not be somebody else's.
        let hints = everyone.map { MeshEvent.account(userID: $0.id) }.filter(isHeard)
        try await board.listen(after: number, orHearing: hints, body)
    }
}
