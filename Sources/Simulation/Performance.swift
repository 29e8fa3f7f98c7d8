/// What came of a run.
public struct Performance: Sendable {
    public let script: Script
    public let breach: Breach?
    public let history: [String]
    /// The same for the same script, in every build.
    public let digest: UInt64
    public let jobs: Int
    public let elapsed: Duration
    /// How often a request left or was answered, and the disk was flushed, while the script lasted.
    public let effects: Int
    public let flushes: Int
}
