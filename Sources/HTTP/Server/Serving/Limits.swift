/// What a client may ask for, and how long it may take.
public struct Limits: Sendable {
    /// Bytes of the request line and the headers together. Beyond: 414 or 431.
    public var head = 16_384
    /// Header fields of a request. Beyond: 431.
    public var fields = 400
    /// Bytes of any body; a handler may allow less. Beyond: 413.
    public var body = 1_048_576
    /// Connections at the same time. Beyond, the one that has rested longest makes room; if all are
    /// busy: 503 with `Retry-After`.
    public var connections = 1_024

    /// For the head of a request. A new connection has as long for its first one.
    public var headTime = Duration.seconds(15)
    /// How long a connection may rest between two requests.
    public var idleTime = Duration.seconds(60)
    /// For a body. What is large gets more, by `slowest`.
    public var bodyTime = Duration.seconds(30)
    /// Whether a client takes anything of its answer is looked at so often; who has taken nothing in between is cut
    /// off. An answer that lies here whole has to go by `slowest`, too.
    public var answerTime = Duration.seconds(30)
    /// Bytes of answers that wait for their clients, of all together. Beyond, whoever only reads: 503 with
    /// `Retry-After`.
    public var answers = 536_870_912
    /// Bytes per second below which a client is too slow.
    public var slowest = 4_096
    /// How long a client that has closed its sending side is still answered.
    ///
    /// A client that has left and one that merely has nothing more to say look alike on TCP. So the
    /// handler has this long to finish before it is cancelled.
    public var halfClosedTime = Duration.seconds(5)
    /// How long a refused client may go on sending, so that it gets to read the answer.
    public var lingerTime = Duration.seconds(2)

    public init() {}

    /// So many are let in in one turn, and so beyond the limit for as long as it is not known who of those that
    /// are there rests.
    var newcomers: Int { min(64, max(1, connections / 8)) }

    /// So many connections that are over for us wait for their clients to read why.
    var leavers: Int { min(256, max(8, connections / 4)) }

    /// Connections that a crowd may have beyond the limit.
    public var crowd: Int { newcomers + leavers }

    /// Bytes that a connection has for the heads of requests and answers for as long as it is open,
    /// and cannot go beyond: for the head, for the library's record of each field, and for the head of
    /// the answer. As the limits are, 45 KiB, and so 45 MiB for all connections.
    var connectionMemory: Int { head + fields * 64 + 4_096 }

    /// Time for so many bytes at the slowest rate.
    func time(for bytes: Int) -> Duration {
        .milliseconds(bytes / max(1, slowest / 1_000))
    }
}
