import CMicrohttpd
import Glibc

/// A client's connection. Lives on the loop's thread.
final class Connection {
    /// What it is allowed time for.
    enum Phase {
        /// Waits for a request, or for its first one.
        case idle
        case head
        case body
        /// A handler is at work; that takes as long as it takes.
        case handling
        case answering
        /// Still handling, for a client that has closed its sending side.
        case waning
        /// Has been refused, and has a moment to read why.
        case dismissed
        /// Speaks another protocol by now, with somebody else.
        case upgraded
        /// Has been cut off and is about to go.
        case cut
    }

    /// The library's own; valid until it says that the connection is closed.
    let handle: OpaquePointer
    let identity: UInt64
    let descriptor: Int32
    let door: Door
    let peer: Peer
    /// When the library last had something of it.
    var lastCall = Duration.zero
    /// When it was last seen that something of its body lay here unread.
    private var unreadSince: Duration?
    /// Since when nothing of it has been answered.
    var restsSince = Duration.zero
    private(set) var phase = Phase.idle
    private(set) var deadline: Duration?
    var exchange: Exchange?
    /// The last exchange of a connection that was upgraded by it.
    var upgraded: Exchange?
    /// The last answer was given before the request was read to its end.
    var hasUnreadRequest = false
    /// The client has closed its sending side. Whether it has left altogether, only time can tell.
    var isHalfClosed = false

    init(
        handle: OpaquePointer,
        identity: UInt64,
        descriptor: Int32,
        door: Door,
        peer: Peer
    ) {
        self.handle = handle
        self.identity = identity
        self.descriptor = descriptor
        self.door = door
        self.peer = peer
    }

    func enter(_ phase: Phase, until deadline: Duration?) {
        guard self.phase != .cut, self.phase != .dismissed else { return }
        self.phase = phase
        self.deadline = deadline
    }

    /// Tells it why it has to go, and leaves it the time to read that.
    func dismiss(with response: Response, until deadline: Duration) {
        say(response)
        enter(.dismissed, until: deadline)
    }

    /// Whether the next step is the client's.
    var isClientsTurn: Bool {
        switch phase {
        case .idle, .head, .body: true
        case .handling, .waning, .answering, .dismissed, .upgraded, .cut: false
        }
    }

    /// Whether nobody works for it: nothing has been asked, or the answer is there.
    var isQuiet: Bool {
        switch phase {
        case .idle, .head: true
        case .body: exchange?.heldBack != nil
        case .handling, .waning, .answering, .dismissed, .upgraded, .cut: false
        }
    }

    /// Whether nothing of it lies here unread, either.
    var rests: Bool { isQuiet && cm_unread(descriptor) <= 0 }

    /// Whether something of its body lay here unread at the last look and the library has had nothing of it since. Once
    /// is not enough: it may have come after the library read.
    func isStuck(since lastLook: Duration, at now: Duration) -> Bool {
        guard phase == .body, cm_unread(descriptor) > 0 else { return false }
        defer { unreadSince = now }
        return unreadSince == lastLook && lastCall < lastLook
    }

    /// Of those let in within one turn of the loop, whoever came first.
    func restedLonger(than other: Connection) -> Bool {
        (restsSince, identity) < (other.restsSince, other.identity)
    }

    /// Ends it, whatever it is doing. The library lets go of it once it has seen the end; so that it
    /// looks, ``ServerLoop/cut(_:)`` is the way where no exchange is about to end with it.
    func cut() {
        phase = .cut
        deadline = nil
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Ends it as if the machine had failed at that moment: nothing is said, nobody is waited for.
    func vanish(isReset: Bool) {
        if isReset { cm_reset(descriptor) }
        cut()
    }

    /// Says one last thing, past the library. Only before an answer has begun.
    func say(_ response: Response) {
        let bytes = response.wholeForm
        cm_say(descriptor, bytes, bytes.count)
        hasUnreadRequest = true
    }

    /// Whether the client has sent what nobody will read. To close in spite of that would reset
    /// the connection, and the client might lose the answer it has not read yet.
    var mustLinger: Bool { phase != .cut && (hasUnreadRequest || cm_unread(descriptor) > 0) }
}

extension Status {
    /// As the library calls it in the answers that go through it.
    fileprivate var phrase: String {
        cm_phrase(Int32(clamping: rawValue)).map { String(cString: $0) } ?? ""
    }
}

extension Response {
    /// Status line, headers and body in one. For the few answers that do not go through the library
    /// because a request is in its way; the connection ends with them.
    var wholeForm: [UInt8] {
        guard headers.areSendable else { return Refusal.unsendable.response.wholeForm }
        var text = "HTTP/1.1 \(status) \(status.phrase)\r\n"
        for (name, value) in headers.fields where !name.isServersBusiness {
            text += "\(name): \(value)\r\n"
        }
        if let length { text += "Content-Length: \(length)\r\n" }
        return Array((text + "Connection: close\r\n\r\n").utf8) + wholeBody
    }

    /// Whether a socket that has little room takes all of it in one piece.
    var isSaidAtOnce: Bool {
        (length ?? .max) <= 16_384 && isHere
    }

    /// Whether there is a body, and it lies in memory.
    var isHere: Bool {
        switch body {
        case .bytes, .fixed: true
        case .stream, .upgrade, .cut: false
        }
    }

    private var wholeBody: [UInt8] {
        switch body {
        case .bytes(let bytes): bytes
        case .fixed(let text): text.withUTF8Buffer { Array($0) }
        case .stream, .upgrade, .cut: []
        }
    }
}
