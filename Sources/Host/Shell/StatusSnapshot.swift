import JSON
import Sync
import Vault

/// How the host stands, for people who run it and are not to see whose it is: no name, no address, no
/// id, and no words of upstream's, which could hold any of these.
struct StatusSnapshot: Sendable {
    struct Account: Sendable {
        let number: Int
        var standing: AccountStanding
        /// When the first of those that wait is tried, as far as that is known.
        var nextAttempt: Moment?
        var quarantined: [(type: ChangeType, since: Moment, why: String)] = []
        var recent: [ResolutionEntry] = []
    }

    var network: NetworkStanding
    /// Those that want to be looked at most, in their order.
    var accounts: [Account] = []
    /// How many there are besides.
    var others = 0
    /// Changes that wait, of all accounts.
    var pending = 0
    /// How many of these belong to accounts that are not here, and wait until they sign in again.
    var strangersChanges = 0

    /// So many changes of an account are looked at one by one; of more, only the counts are shown.
    private static let mostChanges = 1_000
    private static let mostAccounts = 100

    init(of household: any Household) async {
        network = household.network
        var all: [(desk: any AccountDesk, account: Account)] = []
        for (number, desk) in zip(1..., household.desks) {
            guard let standing = try? await desk.standing else { continue }
            all.append((desk, Account(number: number, standing: standing)))
            pending += standing.pending.total
        }
        strangersChanges = await household.summary.strangersChanges
        pending += strangersChanges
        let shown = all.count <= Self.mostAccounts ? all : Self.mostTelling(all)
        others = all.count - shown.count
        for (desk, account) in shown { accounts.append(await Self.filled(account, from: desk)) }
    }

    private static func mostTelling<Desk>(
        _ all: [(desk: Desk, account: Account)]
    ) -> [(desk: Desk, account: Account)] {
        let telling = all.sorted { $0.account.rank > $1.account.rank }
        return telling.prefix(mostAccounts).sorted { $0.account.number < $1.account.number }
    }

    private static func filled(_ bare: Account, from desk: any AccountDesk) async -> Account {
        var account = bare
        let pending = account.standing.pending
        let heldUntil = desk.heldUntil
        if pending.ready > 0 { account.nextAttempt = heldUntil }
        if pending.needsDetails, pending.total <= mostChanges {
            account.note((try? await desk.pending()) ?? [], heldUntil: heldUntil)
        }
        account.recent = (try? await desk.resolutions(since: nil, limit: 5)) ?? []
        return account
    }
}

extension StatusSnapshot.Account {
    fileprivate var rank: (Int, Int) { (urgency, -number) }

    /// The more, the sooner somebody should look at it.
    private var urgency: Int {
        let pending = standing.pending
        if pending.quarantined > 0 { return 4 }
        if standing.status == .signedOut { return 3 }
        if pending.backingOff > 0 { return 2 }
        return pending.total > 0 ? 1 : 0
    }
}

extension AccountStanding.Pending {
    fileprivate var needsDetails: Bool { backingOff + quarantined > 0 }
}

extension StatusSnapshot.Account {
    fileprivate mutating func note(_ changes: [StoredChange], heldUntil: Moment?) {
        for stored in changes {
            let summary = stored.summary
            if let next = summary.state.nextAttempt(heldUntil: heldUntil) {
                nextAttempt = min(nextAttempt ?? next, next)
            }
            guard summary.state == .quarantined else { continue }
            quarantined.append((summary.type, summary.updated, stored.change.why))
        }
    }
}

extension PendingChange? {
    fileprivate var why: String {
        guard let self else { return "Its record cannot be read." }
        return self.lastFailure == nil
            ? "It cannot be sent as it is." : "The server refuses it for good."
    }
}

// MARK: As JSON

extension StatusSnapshot: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { json in
            json.object("network") {
                $0.add("state", network.state.rawValue)
                $0.add("since", network.since.date.isoText)
                $0.add("isDrill", network.isDrill)
            }
            json.array("accounts") { list in
                for account in accounts { list.object { account.write(to: &$0) } }
            }
            json.add("others", others)
            json.add("pending", pending)
            json.add("ofStrangers", strangersChanges)
        }
    }
}

extension StatusSnapshot.Account {
    fileprivate func write(to json: inout JSON.ObjectWriter) {
        json.add("name", "Account \(number)")
        json.add("status", standing.status.rawValue)
        json.add("network", standing.network.rawValue)
        json.add("lastSync", standing.lastSync?.date.isoText)
        json.add("lastOutcome", standing.lastReport?.outcome.rawValue)
        json.object("pending") { $0.add(standing.pending) }
        json.add("nextAttempt", nextAttempt?.date.isoText)
        json.array("quarantined") { list in
            for change in quarantined {
                list.object {
                    $0.add("type", change.type.rawValue)
                    $0.add("since", change.since.date.isoText)
                    $0.add("why", change.why)
                }
            }
        }
        json.array("recent") { list in
            for entry in recent {
                list.object {
                    $0.add("type", entry.type.rawValue)
                    $0.add("outcome", entry.note.outcome.rawValue)
                    $0.add("at", entry.note.moment.date.isoText)
                    $0.add("hasBackup", entry.note.backupCipherID != nil)
                }
            }
        }
    }
}

extension JSON.ObjectWriter {
    fileprivate mutating func add(_ pending: AccountStanding.Pending) {
        add("total", pending.total)
        add("ready", pending.ready)
        add("inFlight", pending.inFlight)
        add("backingOff", pending.backingOff)
        add("quarantined", pending.quarantined)
        add("oldest", pending.oldest?.date.isoText)
    }
}
