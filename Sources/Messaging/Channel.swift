import System

/// The line between many senders and one reader.
///
/// Decides under a lock (``ChannelState``) and acts when the lock is free again.
final class Channel<Message: Sendable>: Sendable {
    typealias Sender = UnsafeContinuation<Undelivered?, Never>
    typealias Reader = UnsafeContinuation<Void, Never>
    typealias State = ChannelState<Message, Sender, Reader>

    struct Guarded: Sendable {
        var state: State
        var observer: LineObserver?

        var now: Duration { observer?.time.elapsed ?? .zero }

        /// Whoever observes is told what the transition did to the depth.
        mutating func move<Result>(_ transition: (inout State) -> Result) -> Result {
            guard let observer else { return transition(&state) }
            let before = state.depth
            let result = transition(&state)
            if state.depth != before { observer.deepened(state.depth - before) }
            return result
        }
    }

    let name: String
    private let guarded: Lock<Guarded>

    init(name: String, capacity: Int) {
        self.name = name
        guarded = Lock(Guarded(state: State(capacity: capacity)))
    }

    // MARK: Sending

    func offer(_ message: Message) -> State.Offer {
        let offer = guarded.withLock { guarded in
            let now = guarded.now
            return guarded.move { $0.offer(message, at: now) }
        }
        if case .accepted(let reader?) = offer { reader.resume() }
        return offer
    }

    /// Sends the message as soon as there is room for it.
    func wait(with message: Message, ticket: Int) async throws(Undelivered) {
        let refusal = await withTaskCancellationHandler {
            await withUnsafeContinuation { sender in
                line(up: sender, with: message, ticket: ticket) { Task.isCancelled }
            }
        } onCancel: {
            cancelSender(ticket: ticket)
        }
        if let refusal { throw refusal }
    }

    /// The same, also if the task is cancelled.
    func waitRegardless(with message: Message, ticket: Int) async throws(Undelivered) {
        let refusal = await withUnsafeContinuation { sender in
            line(up: sender, with: message, ticket: ticket) { false }
        }
        if let refusal { throw refusal }
    }

    private func line(
        up sender: Sender,
        with message: Message,
        ticket: Int,
        unless isCancelled: () -> Bool
    ) {
        let offer: State.Offer? = guarded.withLock { guarded in
            // Asked under the lock: a task that is cancelled later finds its sender in the line.
            if isCancelled() { return nil }
            let now = guarded.now
            return guarded.move {
                $0.wait(with: message, from: sender, ticket: ticket, sentAt: now)
            }
        }
        switch offer {
        case nil: sender.resume(returning: .cancelled)
        case .closed: sender.resume(returning: .closed)
        case .full: break
        case .accepted(let reader):
            sender.resume(returning: nil)
            reader?.resume()
        }
    }

    private func cancelSender(ticket: Int) {
        let sender = guarded.withLock { $0.state.cancelSender(ticket: ticket) }
        sender?.sender.resume(returning: .cancelled)
    }

    // MARK: Reading

    func admitReader() {
        guarded.withLock { $0.state.admitReader() }
    }

    /// Takes the next messages, if there are any.
    func take(into hand: inout Handful<Message>) -> (State.Taking, LineObserver?) {
        let (taking, observer) = guarded.withLock { guarded in
            (guarded.move { $0.take(into: &hand) }, guarded.observer)
        }
        if case .taken(let senders) = taking {
            for sender in senders { sender.resume(returning: nil) }
        }
        return (taking, observer)
    }

    /// Sleeps until there is something to take, or the task is cancelled.
    func waitForMessage() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { reader in
                let awake = guarded.withLock {
                    Task.isCancelled ? reader : $0.state.park(reader)
                }
                awake?.resume()
            }
        } onCancel: {
            guarded.withLock { $0.state.unpark() }?.resume()
        }
    }

    // MARK: Ending

    func close() {
        bid(guarded.withLock { $0.state.close() })
    }

    func hangUp() {
        bid(guarded.withLock { guarded in guarded.move { $0.hangUp() } })
    }

    private func bid(_ farewell: consuming State.Farewell) {
        farewell.reader?.resume()
        while let sender = farewell.refused.popFirst() {
            sender.sender.resume(returning: .closed)
        }
    }

    // MARK: Measuring

    var isAwaited: Bool { guarded.withLock { $0.state.isAwaited } }

    var traffic: Traffic {
        guarded.withLock {
            Traffic(
                name: name,
                capacity: $0.state.capacity,
                depth: $0.state.depth,
                taken: $0.state.taken,
                waitingSenders: $0.state.waitingCount
            )
        }
    }

    func observe(_ observer: LineObserver) {
        let now = observer.time.elapsed
        guarded.withLock {
            let depth = $0.state.depth
            $0.observer?.deepened(-depth)
            observer.deepened(depth)
            $0.observer = observer
            $0.state.keepTimes(from: now)
        }
    }
}
