/// The rooms behind the doors, as far as the shell has to do with them.
public struct Interior: Sendable {
    public var household: any Household
    var inside: Gate.Inside
    var tally: HouseholdMetrics.Tally
    /// Whether the services have shown lately that they go on.
    var isAlive: @Sendable () -> Bool = { true }
    /// Has the services run; returns when they have ended, or soon after it is cancelled.
    var run: @Sendable () async -> Void = {}
    /// Reads anew which authorities servers are trusted by, besides the system's; whether they are others than before.
    var trust: @Sendable (_ path: String?) throws -> Bool = { _ in false }
    /// Ends what would go on for as long as a client listens.
    var hangUp: @Sendable () async -> Void = {}
    /// Waits for nobody outside any more: whoever asked for something hears what has become of it.
    var giveUp: @Sendable () async -> Void = {}
    /// Puts everything on stable storage and lets go of it. No request is under way any more.
    public var close: @Sendable () async -> Void = {}
    /// Waits after that for what cannot be called off, such as the derivation of a key.
    public var conclude: @Sendable () async -> Void = {}
}
