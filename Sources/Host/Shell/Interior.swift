/// The rooms behind the doors, as far as the shell has to do with them.
public struct Interior: Sendable {
    public var household: any Household
    public var inside: Gate.Inside
    public var tally: HouseholdMetrics.Tally
    /// Whether the services have shown lately that they go on.
    public var isAlive: @Sendable () -> Bool
    /// Has the services run; returns when they have ended, or soon after it is cancelled.
    public var run: @Sendable () async -> Void
    /// Reads anew which authorities servers are trusted by, besides the system's; whether they are others than before.
    public var trust: @Sendable (_ path: String?) throws -> Bool
    /// Ends what would go on for as long as a client listens.
    public var hangUp: @Sendable () async -> Void
    /// Waits for nobody outside any more: whoever asked for something hears what has become of it.
    public var giveUp: @Sendable () async -> Void
    /// Puts everything on stable storage and lets go of it. No request is under way any more.
    public var close: @Sendable () async -> Void
    /// Waits after that for what cannot be called off, such as the derivation of a key.
    public var conclude: @Sendable () async -> Void

    public init(
        household: any Household,
        inside: Gate.Inside,
        tally: @escaping HouseholdMetrics.Tally,
        isAlive: @escaping @Sendable () -> Bool = { true },
        run: @escaping @Sendable () async -> Void = {},
        trust: @escaping @Sendable (_ path: String?) throws -> Bool = { _ in false },
        hangUp: @escaping @Sendable () async -> Void = {},
        giveUp: @escaping @Sendable () async -> Void = {},
        close: @escaping @Sendable () async -> Void = {},
        conclude: @escaping @Sendable () async -> Void = {}
    ) {
        self.household = household
        self.inside = inside
        self.tally = tally
        self.isAlive = isAlive
        self.run = run
        self.trust = trust
        self.hangUp = hangUp
        self.giveUp = giveUp
        self.close = close
        self.conclude = conclude
    }
}
