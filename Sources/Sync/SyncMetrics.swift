public import Metrics
public import Vault

/// Everything about syncing that is measured, on one page.
///
/// What is counted is counted here by whoever does it; what is a figure of the store is read from there when
/// somebody scrapes: by ``StoreMetrics``, and what is pending, since when, by the host.
public final class SyncMetrics: Sendable {
    public enum Operation: String, CaseIterable, Hashable, Sendable {
        case create, update, softDelete, hardDelete, restore, other
    }

    public enum Disposition: String, CaseIterable, Hashable, Sendable {
        case saved, queued, rejected
    }

    public enum ConflictKind: String, CaseIterable, Hashable, Sendable {
        case hard, soft, delete
    }

    public enum BackupReason: String, CaseIterable, Hashable, Sendable {
        case hardConflict, softConflict
    }

    public enum BackupFileOutcome: String, CaseIterable, Sendable {
        case copied, failed
    }

    public enum BackupOutcome: String, CaseIterable, Hashable, Sendable {
        case created, reused, failed
    }

    public enum AbortReason: String, CaseIterable, Hashable, Sendable {
        case pending, shrink, regression, auth, decode
    }

    public enum RetryCause: String, CaseIterable, Hashable, Sendable {
        case transport, serverError, rateLimited, conflict, auth, other
    }

    /// The services of the mesh, by the names of their channels.
    public enum Actor: String, CaseIterable, Hashable, Sendable {
        case repository, resolver
        case pendingStore = "pending-store"
        case syncScheduler = "sync-scheduler"
        case networkMonitor = "network-monitor"
    }

    /// Who won a conflict, in the metric's words.
    public enum Winner: String, CaseIterable, Hashable, Sendable {
        case local, server
    }

    private let edits: Labelled<Operation, Labelled<Disposition, Counter>>
    private let editDurations: Labelled<Disposition, Histogram<Duration>>
    private let propagation: Histogram<Duration>
    private let deliveries: Histogram<Duration>
    private let resolutions: Labelled<ChangeType, Labelled<ResolutionNote.Outcome, Counter>>
    private let conflicts: Labelled<ConflictKind, Labelled<Winner, Counter>>
    private let backups: Labelled<BackupReason, Labelled<BackupOutcome, Counter>>
    private let backupFiles: Labelled<BackupFileOutcome, Counter>
    private let runs: Labelled<SyncReport.Outcome, Counter>
    private let aborts: Labelled<AbortReason, Counter>
    private let durations: Histogram<Duration>
    private let retries: Labelled<RetryCause, Counter>
    private let backoffs: Histogram<Duration>
    private let transitions: Labelled<NetworkState, Counter>
    private let standstills: Counter
    private let heartbeats: Labelled<Actor, Gauge>

    public init(_ registry: Registry) {
        edits = registry.register(
            .counter(
                "holdfast_edits_total",
                "Edits of open vaults, by what became of them at once."
                    + " Rejected are also those answered with an error whose outcome is unknown."
            ),
            by: Label("op"),
            Label("disposition")
        )
        editDurations = registry.register(
            .histogram(
                "holdfast_edit_duration_seconds",
                "How long edits took until their callers had an answer.",
                bounds: Self.shortTimes
            ),
            by: Label("disposition")
        )
        propagation = registry.register(
            .histogram(
                "holdfast_edit_propagation_seconds",
                "How long it took from accepting a queued edit to seeing it upstream.",
                bounds: Self.longTimes
            )
        )
        deliveries = registry.register(
            .histogram(
                "holdfast_edit_delivery_seconds",
                "How long it took to see a queued edit upstream, once it could be sent.",
                bounds: Self.longTimes
            )
        )
        resolutions = registry.register(
            .counter(
                "holdfast_resolutions_total",
                "Pending changes that were resolved, by outcome."
            ),
            by: Label("type"),
            Label("outcome")
        )
        conflicts = registry.register(
            .counter("holdfast_conflicts_total", "Conflicts that were decided, by their winner."),
            by: Label("kind"),
            Label("winner")
        )
        backups = registry.register(
            .counter("holdfast_backups_total", "Backup copies of what gave way in a conflict."),
            by: Label("reason"),
            Label("outcome")
        )
        backupFiles = registry.register(
            .counter(
                "holdfast_backup_files_total",
                "Files that backup copies were to have as well, by what came of it."
            ),
            by: Label("outcome")
        )
        runs = registry.register(
            .counter("holdfast_sync_runs_total", "Syncs, by their outcome."),
            by: Label("outcome")
        )
        aborts = registry.register(
            .counter(
                "holdfast_sync_aborts_total",
                "Syncs that took nothing over, by reason."
            ),
            by: Label("reason")
        )
        durations = registry.register(
            .histogram(
                "holdfast_sync_duration_seconds",
                "How long syncs took.",
                bounds: Self.shortTimes + [.seconds(60), .seconds(300)]
            )
        )
        retries = registry.register(
            .counter("holdfast_retries_scheduled_total", "Retries that were scheduled, by cause."),
            by: Label("cause")
        )
        backoffs = registry.register(
            .histogram(
                "holdfast_retry_backoff_seconds",
                "How long each scheduled retry was put off.",
                bounds: [
                    .seconds(1), .seconds(3), .seconds(5), .seconds(10), .seconds(20), .seconds(40),
                    .seconds(80), .seconds(160), .seconds(320), .seconds(640), .seconds(900),
                    .seconds(3_600),
                ]
            )
        )
        transitions = registry.register(
            .counter(
                "holdfast_network_transitions_total",
                "How often an upstream came into a state."
            ),
            by: Label("to")
        )
        standstills = registry.register(
            .counter(
                "holdfast_sync_standstills_total",
                "How often changes waited for no known reason, and syncing was begun anew."
            )
        )
        heartbeats = registry.register(
            .gauge(
                "holdfast_heartbeat_timestamp_seconds",
                "When a service last showed that it reads its messages; of several, the most silent."
            ),
            by: Label("actor")
        )
    }

    private static let shortTimes: [Duration] = [
        .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10),
        .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
        .milliseconds(500), .seconds(1), .milliseconds(2_500), .seconds(5), .seconds(10),
        .seconds(15), .seconds(30),
    ]

    private static let longTimes: [Duration] = [
        .seconds(1), .seconds(5), .seconds(15), .seconds(30), .seconds(60), .seconds(120),
        .seconds(300), .seconds(900), .seconds(3_600), .seconds(4 * 3_600), .seconds(24 * 3_600),
        .seconds(7 * 24 * 3_600),
    ]
}

extension SyncMetrics {
    public func edited(_ operation: Operation, _ disposition: Disposition, after time: Duration) {
        edits[operation, disposition].increment()
        editDurations[disposition].observe(time)
    }

    /// A refresh showed what an edit had become.
    ///
    /// - Parameter delivery: The part of the time in which nothing stood in its way: upstream could be
    ///   reached, and the vault was open.
    func observed(after time: Duration, delivery: Duration) {
        propagation.observe(time)
        deliveries.observe(delivery)
    }

    public func resolved(
        _ type: ChangeType,
        _ outcome: ResolutionNote.Outcome,
        count: Int = 1
    ) {
        resolutions[type, outcome].increment(by: count)
    }

    func decided(_ kind: ConflictKind, for winner: Side) {
        conflicts[kind, winner == .local ? .local : .server].increment()
    }

    func backedUp(_ reason: BackupReason, _ outcome: BackupOutcome) {
        backups[reason, outcome].increment()
    }

    public func copiedFile(_ outcome: BackupFileOutcome) { backupFiles[outcome].increment() }

    func synced(_ outcome: SyncReport.Outcome, after time: Duration) {
        runs[outcome].increment()
        durations.observe(time)
    }

    func aborted(_ reason: AbortReason) { aborts[reason].increment() }

    func scheduledRetry(_ cause: RetryCause, in wait: Duration) {
        retries[cause].increment()
        backoffs.observe(wait)
    }

    func network(became state: NetworkState) { transitions[state].increment() }

    func stoodStill() { standstills.increment() }

    func heartbeat(_ actor: Actor, at moment: Moment) { heartbeats[actor].set(moment.date) }
}
