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
}

/// What can be measured of a channel, whatever it carries. Every ``Address`` is one.
public protocol Line: Sendable {
    /// Read under the channel's lock; costs the channel nothing while nobody reads it.
    var traffic: Traffic { get }

    /// From now on tells how long every message waited from being sent (so a sender's wait for room
    /// counts) to being read, and whenever the depth changes, by how much; first by what it is now.
    ///
    /// The reader calls `waited` before it handles the message, and `deepened` is called under the
    /// channel's lock, so both have to be quick. Until this is called nobody looks at a clock. A later
    /// call takes the place of the earlier one, and has to bring the same `time`.
    func observe(
        by time: any Timekeeper,
        waited: @escaping @Sendable (Duration) -> Void,
        deepened: @escaping @Sendable (Int) -> Void
    )
}

/// Who is told what goes through a channel.
struct LineObserver: Sendable {
    let time: any Timekeeper
    let waited: @Sendable (Duration) -> Void
    let deepened: @Sendable (Int) -> Void
}
