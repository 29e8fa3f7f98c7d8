public import Crypto
public import Logging
public import Messaging
public import System
public import Vault

/// What every service of the mesh is given, besides the addresses of those it talks to: time, chance,
/// and where to say what happens.
public struct Surroundings: Sendable {
    public var timekeeper: any Timekeeper
    public var chance: any Chance
    public var entropy: any Entropy
    /// Names this boot of the machine, so that a clock that was set is noticed.
    public var bootID: String
    /// When this host was started.
    public let began: Moment
    public var metrics: SyncMetrics
    public var log: Logger
    /// Hears what clients that listen are told. Must not wait.
    public var announce: @Sendable (MeshEvent) -> Void
    /// What a scheduler does when a sync has ended and everybody has heard of it; and after what time there is
    /// something to do again.
    public var afterSync: @Sendable () async -> Duration? = { nil }
    /// Whoever brings the services up runs it with them.
    public var alarms: AlarmClock
    /// Those of all accounts on the same server.
    public var runs = RunTurns()

    public init(
        timekeeper: any Timekeeper,
        chance: any Chance,
        entropy: any Entropy = SystemEntropy(),
        bootID: String,
        metrics: SyncMetrics,
        log: Logger,
        announce: @escaping @Sendable (MeshEvent) -> Void = { _ in }
    ) {
        self.timekeeper = timekeeper
        began = Moment(timekeeper.now)
        self.chance = chance
        self.entropy = entropy
        self.bootID = bootID
        self.metrics = metrics
        self.log = log
        self.announce = announce
        alarms = AlarmClock(timekeeper: timekeeper)
    }

    public var now: Moment { Moment(timekeeper.now) }

    /// How far the clock can be trusted right now, to be kept with an edit.
    public func clockNote(offset: Int64?) -> ClockNote {
        ClockNote(
            offsetTicks: offset,
            bootID: bootID,
            elapsedTicks: Moment.ticks(in: timekeeper.elapsed)
        )
    }
}

/// Something that clients may want to hear of at once.
public enum MeshEvent: Sendable {
    /// What is pending for a cipher has changed; nothing may be left of it.
    case pending(Lane, changeID: String)
    case resolution(Lane, changeID: String, ResolutionNote)
    case sync(userID: String, SyncReport)
    case network(upstream: String, NetworkState)
    /// The account was signed in or out, locked or unlocked, added or erased.
    case account(userID: String)
}
