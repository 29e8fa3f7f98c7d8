public import System

/// What has gone through a channel and what is in it, at one moment.
public struct Traffic: Equatable, Sendable {
    /// The mailbox's name.
    public let name: String
    /// How many messages may wait to be read.
    public let capacity: Int
    /// How many do. A reader takes several at once, so this may lag behind by a few.
    public let depth: Int
    /// How many the reader has come to since the beginning.
    public let taken: Int
    /// How many senders wait for room.
    public let waitingSenders: Int

    public init(name: String, capacity: Int, depth: Int, taken: Int, waitingSenders: Int) {
        self.name = name
        self.capacity = capacity
        self.depth = depth
        self.taken = taken
        self.waitingSenders = waitingSenders
    }
}

/// What can be measured of a channel, whatever it carries. Every ``Address`` is one.
public protocol Line: Sendable {
    /// Read under the channel's lock; costs the channel nothing while nobody reads it.
    var traffic: Traffic { get }

    /// From now on reports how long every message waited from being sent (so a sender's wait for
    /// room counts) to being read.
    ///
    /// The reader calls `record` before it handles the message, so it has to be quick. Until this
    /// is called nobody looks at a clock. A later call takes the place of the earlier one, and has
    /// to bring the same `time`.
    func observeWaits(
        by time: any Timekeeper,
        _ record: @escaping @Sendable (Duration) -> Void
    )
}

/// Who is told how long messages waited.
struct WaitObserver: Sendable {
    let time: any Timekeeper
    let record: @Sendable (Duration) -> Void
}
