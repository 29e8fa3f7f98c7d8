/// What a channel decides: who may send, who waits, what the reader gets.
///
/// A plain value that knows neither tasks nor locks. `Sender` and `Reader` stand for those who wait:
/// continuations in the host, numbers in a test. Every transition returns what is to be done once
/// the lock is free.
///
/// Two sentences hold at all times: the messages that the reader has not come to are never more than
/// the capacity, and a sender waits only while they are exactly as many.
struct ChannelState<Message, Sender, Reader> {
    struct WaitingSender {
        let ticket: Int
        let message: Message
        let sender: Sender
        var sentAt: Duration
    }

    enum Phase {
        case open
        /// Nothing more comes in; what is queued is still read.
        case closed
        /// The reader is gone.
        case hungUp
    }

    let capacity: Int
    private(set) var phase = Phase.open
    private var queue = Ring<Message>()
    private var waiting = WaitingLine<WaitingSender>()
    private var hasReader = false
    /// The reader, while it sleeps.
    private var reader: Reader?
    /// How many messages of the reader's handful it had not come to when it took it.
    private var inHand = 0
    private var total = 0
    private var nextTicket = 0
    /// When each message of the queue was sent. Kept only once somebody wants to know.
    private var times: Ring<Duration>?

    init(capacity: Int) {
        precondition(capacity > 0, "A mailbox needs room for one message at least.")
        self.capacity = capacity
    }

    /// The messages that were accepted and that the reader has not come to.
    var depth: Int { queue.count + inHand }
    /// The messages that the reader has come to, ever.
    var taken: Int { total - inHand }
    var waitingCount: Int { waiting.count }
    /// Whether the reader sleeps until something comes.
    var isAwaited: Bool { reader != nil }

    /// The reader takes several messages at once, because every visit costs a lock. At most a
    /// quarter, because their room becomes free only on its next visit.
    private var handful: Int { max(1, min(32, capacity / 4)) }
}

extension ChannelState: Sendable where Message: Sendable, Sender: Sendable, Reader: Sendable {}
extension ChannelState.WaitingSender: Sendable
where Message: Sendable, Sender: Sendable, Reader: Sendable {}

// MARK: Sending

extension ChannelState {
    enum Offer {
        /// The message is in. Whoever is named sleeps and has to be woken.
        case accepted(waking: Reader?)
        /// There is no room. The ticket is for ``wait(with:from:ticket:sentAt:)``.
        case full(ticket: Int)
        case closed
    }

    /// Accepts the message if there is room.
    mutating func offer(_ message: Message, at now: Duration = .zero) -> Offer {
        guard case .open = phase else { return .closed }
        guard depth < capacity else { return .full(ticket: issueTicket()) }
        accept(message, sentAt: now)
        return .accepted(waking: reader.take())
    }

    /// Accepts the message if there is room by now, and otherwise puts its sender at the end of the
    /// line. A sender that is told `full` waits.
    mutating func wait(
        with message: Message,
        from sender: Sender,
        ticket: Int,
        sentAt: Duration = .zero
    ) -> Offer {
        guard case .open = phase else { return .closed }
        guard depth == capacity else { return offer(message, at: sentAt) }
        let last = WaitingSender(ticket: ticket, message: message, sender: sender, sentAt: sentAt)
        waiting.append(last, ticket: ticket)
        return .full(ticket: ticket)
    }

    /// Takes a sender out of the line. Its message goes with it, to be let go of by the caller.
    mutating func cancelSender(ticket: Int) -> WaitingSender? {
        waiting.remove(ticket: ticket)
    }

    private mutating func issueTicket() -> Int {
        defer { nextTicket += 1 }
        return nextTicket
    }

    private mutating func accept(_ message: Message, sentAt: Duration) {
        queue.append(message)
        times?.append(sentAt)
    }
}

// MARK: Reading

extension ChannelState {
    /// Notes that somebody begins to read. Once the line is hung up, whoever comes reads nothing.
    mutating func admitReader() {
        precondition(!hasReader || phase == .hungUp, "A mailbox has one reader.")
        hasReader = true
    }

    enum Taking {
        /// There are messages in the hand. Those senders need not wait any longer.
        case taken(admitting: [Sender])
        /// There is nothing to take; the reader may sleep.
        case empty
        /// There never will be.
        case ended
    }

    /// Moves the next messages into the reader's hand, which has to be empty, and lets as many
    /// senders in as there is room for again.
    mutating func take(into hand: inout Handful<Message>) -> Taking {
        inHand = 0
        guard !queue.isEmpty else { return phase == .open ? .empty : .ended }
        let count = min(handful, queue.count)
        for _ in 0..<count { moveFirst(into: &hand) }
        inHand = count - 1
        total += count
        return .taken(admitting: waiting.isEmpty ? [] : admitSenders())
    }

    /// Lets the reader sleep, unless there is something for it by now: then it is returned.
    mutating func park(_ sleeper: Reader) -> Reader? {
        guard queue.isEmpty, phase == .open else { return sleeper }
        reader = sleeper
        return nil
    }

    /// Wakes the reader, if it sleeps.
    mutating func unpark() -> Reader? { reader.take() }

    private mutating func moveFirst(into hand: inout Handful<Message>) {
        guard let message = queue.popFirst() else { return }
        hand.messages.append(message)
        if let time = times?.popFirst() { hand.times.append(time) }
    }

    private mutating func admitSenders() -> [Sender] {
        var admitted: [Sender] = []
        while depth < capacity, let first = waiting.popFirst() {
            accept(first.message, sentAt: first.sentAt)
            admitted.append(first.sender)
        }
        // A storm of senders is over some time; what it needed is given back.
        if waiting.isEmpty { waiting = WaitingLine() }
        return admitted
    }
}

// MARK: Ending

extension ChannelState {
    /// Who has to hear of the end, and what nobody is going to read.
    ///
    /// To be let go of when the lock is free, because a reply that is dropped answers.
    struct Farewell {
        var reader: Reader?
        var refused = WaitingLine<WaitingSender>()
        var unread = Ring<Message>()
    }

    /// Lets nothing more in. What is queued is still read.
    mutating func close() -> Farewell {
        guard phase == .open else { return Farewell() }
        phase = .closed
        defer { waiting = WaitingLine() }
        return Farewell(reader: reader.take(), refused: waiting)
    }

    /// Ends the channel from the reader's side.
    mutating func hangUp() -> Farewell {
        var farewell = close()
        phase = .hungUp
        farewell.unread = queue
        queue = Ring()
        times = times.map { _ in Ring() }
        inHand = 0
        return farewell
    }
}

// MARK: Measuring

extension ChannelState {
    /// From now on the time of every message is kept. Those that are queued count from now, and so
    /// do those whose senders wait.
    mutating func keepTimes(from now: Duration) {
        guard times == nil else { return }
        var kept = Ring<Duration>()
        for _ in 0..<queue.count { kept.append(now) }
        times = kept
        waiting.change { $0.sentAt = now }
    }
}

/// The messages that a reader took at once, and when they were sent, if that is kept.
struct Handful<Message> {
    var messages = Ring<Message>()
    var times = Ring<Duration>()
}

extension Handful: Sendable where Message: Sendable {}
