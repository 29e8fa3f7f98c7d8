import Sync
import Vault

/// What is known of an account's syncs, whether its services run or rest.
struct Syncing: Sendable {
    var lastReport: SyncReport?
    var outlook = SyncScheduler.Outlook()
    /// When the next run begins of its own accord.
    var next: Moment?
    private var hold: Moment?

    var lastSync: Moment? { outlook.lastSync }

    init() {}

    init(_ scheduler: SyncScheduler) {
        let plan = scheduler.plan
        outlook = scheduler.outlook
        lastReport = scheduler.lastReport
        (next, hold) = (plan.next, plan.heldUntil)
    }

    /// Before this nothing is sent, because of a failure or because upstream asked for it.
    func heldUntil(at now: Moment) -> Moment? { hold.flatMap { $0 > now ? $0 : nil } }
}
