import Sync
import System
import Vault

/// How each account stands, in plain numbers, so that what all of them come to is known at once.
///
/// An account that says that something about it has changed is asked anew when somebody wants to know;
/// all the others are not, however many they are.
final class Roll: Sendable {
    struct Entry: Sendable {
        var status: AccountStanding.Status
        /// The number of the server that it is on.
        var server: Int
        var outlook: SyncScheduler.Outlook
        /// Whether what waits may be sent at all.
        var canResolve = true
    }

    /// What is known of the way to a server.
    struct Road: Sendable {
        var state = NetworkState.online
        /// Until then the server has asked to be left alone.
        var heldUntil: Moment?
        /// How many ticks its clock is ahead of ours; nil if it has not said.
        var clockOffset: Int64?
    }

    fileprivate struct State {
        var entries: [Entry?] = []
        var places: [String: Int] = [:]
        var changed: Set<String> = []
        /// How many have asked what has changed, and who of them wrote each entry.
        var rounds = 0
        var writers: [Int] = []

        /// Of two who ask at once, the later one's answer is the newer.
        mutating func write(_ entry: Entry?, of id: String, in round: Int) {
            guard let place = places[id] else {
                places[id] = entries.count
                entries.append(entry)
                writers.append(round)
                return
            }
            if writers[place] <= round { (entries[place], writers[place]) = (entry, round) }
        }
    }

    private let state = Lock(State())

    /// The account is there, or is not any more, or stands in another way.
    func note(_ id: String) {
        _ = state.withLock { $0.changed.insert(id) }
    }

    /// - Parameters:
    ///   - servers: What is known of the way to each server.
    ///   - queues: What waits of each account. Nobody wants to know where nothing could be sent.
    ///   - oldestLive: Since when something of these accounts waits that is not set aside.
    ///   - ask: How an account stands; nil if there is none.
    func summary(
        at now: Moment,
        _ elapsed: Duration,
        servers: [Int: Road],
        queues: () -> [String: PendingQueue],
        oldestLive: (Set<String>) -> Moment?,
        ask: (String) -> Entry?
    ) -> HouseholdSummary {
        let (changed, round) = state.withLock { state in
            defer { state.changed = [] }
            state.rounds += 1
            return (state.changed, state.rounds)
        }
        // Not under the lock: an account that is asked may have something to say, and the store may take a
        // while.
        let entries = changed.map { (id: $0, entry: ask($0)) }
        let roll = state.withLock { state in
            for (id, entry) in entries { state.write(entry, of: id, in: round) }
            return state
        }
        var summary = roll.summary(at: now, elapsed, servers)
        guard servers.values.contains(where: { $0.isOpen || $0.hold(at: now) != nil }) else {
            return summary
        }
        let senders = roll.count(queues(), into: &summary, at: now, servers)
        if !senders.open.isEmpty { summary.oldestDeliverable = oldestLive(senders.open) }
        if !senders.locked.isEmpty { summary.oldestLocked = oldestLive(senders.locked) }
        return summary
    }
}

/// Accounts that have something for a server that takes it: what is set aside is not meant.
private struct Senders {
    var open: Set<String> = []
    /// They only want to be unlocked.
    var locked: Set<String> = []
}

extension Roll.Road {
    fileprivate var isOpen: Bool { state != .offline }

    fileprivate func hold(at now: Moment) -> Moment? { heldUntil.flatMap { $0 > now ? $0 : nil } }
}

extension Roll.State {
    fileprivate func summary(
        at now: Moment,
        _ elapsed: Duration,
        _ servers: [Int: Roll.Road]
    ) -> HouseholdSummary {
        var tally = Tally()
        for entry in entries {
            guard let entry else { continue }
            tally.count(entry, at: now, elapsed, heldUntil: servers[entry.server]?.heldUntil)
        }
        return tally.summary(servers)
    }

    /// Counts what open vaults have for servers, and finds out who has something at all.
    fileprivate func count(
        _ queues: [String: PendingQueue],
        into summary: inout HouseholdSummary,
        at now: Moment,
        _ servers: [Int: Roll.Road]
    ) -> Senders {
        var senders = Senders()
        for (id, queue) in queues where queue.live > 0 {
            guard let entry = places[id].flatMap({ entries[$0] }), entry.canResolve else {
                continue
            }
            let road = servers[entry.server] ?? Roll.Road()
            switch (entry.status, road.hold(at: now)) {
            case (.unlocked, let held?):
                summary.longestBackoff = max(summary.longestBackoff, held - now)
                summary.nextRetry = min(summary.nextRetry ?? held, held)
            case (.unlocked, nil) where road.isOpen:
                summary.deliverable += queue.live
                senders.open.insert(id)
            case (.locked, nil) where road.isOpen:
                senders.locked.insert(id)
            case (.unlocked, nil), (.locked, _), (.signedOut, _):
                break
            }
        }
        return senders
    }
}

/// What is counted while the roll is gone through.
private struct Tally {
    private var counts = (locked: 0, unlocked: 0, signedOut: 0)
    private var used: Set<Int> = []
    private var lastServer: Int?
    private var oldestSync: Moment?
    private var wasNeverSynced = false
    private var longest = Duration.zero
    private var retry: Moment?

    /// - Parameter held: Before this its server is not asked, whatever an account would.
    mutating func count(
        _ entry: Roll.Entry,
        at now: Moment,
        _ elapsed: Duration,
        heldUntil held: Moment?
    ) {
        switch entry.status {
        case .locked: counts.locked += 1
        case .unlocked: counts.unlocked += 1
        case .signedOut: counts.signedOut += 1
        }
        if lastServer != entry.server {
            used.insert(entry.server)
            lastServer = entry.server
        }
        if let synced = entry.outlook.lastSync {
            oldestSync = min(oldestSync ?? synced, synced)
        } else {
            wasNeverSynced = true
        }
        if let backoff = entry.outlook.backoff(at: now, elapsed) {
            longest = max(longest, backoff.longest)
            let next = max(backoff.retry, held ?? backoff.retry)
            retry = min(retry ?? next, next)
        }
    }

    func summary(_ servers: [Int: Roll.Road]) -> HouseholdSummary {
        var summary = HouseholdSummary()
        summary.accounts = [
            .locked: counts.locked, .unlocked: counts.unlocked, .signedOut: counts.signedOut,
        ]
        let roads = used.compactMap { servers[$0] }
        for road in roads { summary.networks[road.state, default: 0] += 1 }
        summary.clockOffset =
            roads.compactMap(\.clockOffset).max { $0.magnitude < $1.magnitude } ?? 0
        summary.lastSync = wasNeverSynced ? nil : oldestSync
        summary.longestBackoff = longest
        summary.nextRetry = retry
        return summary
    }
}
