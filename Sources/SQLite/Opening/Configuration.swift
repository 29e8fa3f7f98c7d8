internal import System

/// How a database is opened. The defaults are meant for the host.
public struct Configuration: Sendable {
    /// Another file system than the system's own: a test's, which loses power.
    public var vfs: String?
    /// Where the writing connection and the long reads run. Without one, they get threads of their
    /// own; a simulation passes the executor on which everything else runs too.
    public var executor: (any SerialExecutor & TaskExecutor)?
    /// So many edits share a commit at most; with more waiting, the first are answered earlier.
    public var editsPerCommit = 512
    /// The log is moved into the database when it has grown by so many pages (of 4 KiB).
    public var logPages = 500
    /// How long SQLite tries again when another process holds a lock. Blocks the thread meanwhile.
    public var patience: Duration = .seconds(1)
    /// Whether a commit is on stable storage when it is answered. Of a draft, on which nobody relies before it is
    /// whole, nothing is flushed: its owner flushes the file once it is closed.
    public var isFlushedAtCommit = true
    /// Prepared statements kept for each connection.
    public var statementsKept = 128
    /// Reading connections kept open while nobody reads.
    public var readersKept = 4
    /// Whether the whole file is checked before anything else happens to it.
    public var isCheckedAtOpen = true
    /// Whether the log stays as it is found, for whoever only looks. An edit would move it.
    public var isLogLeftAlone = false
    /// Whether an older schema is brought up to date. A newer one is refused in any case.
    public var isMigratedAtOpen = true
    /// Whether what cannot be understood of the schema is passed over, to read the rest of a damaged file.
    public var isSchemaForgiven = false
    /// The tables of which that check holds every row to its CHECKs as well, if they are there.
    public var tablesCheckedByRow: [String] = []
    public var observer: Observer?
    /// How it gets those threads of its own.
    var startThread = systemThread

    public init() {}
}
