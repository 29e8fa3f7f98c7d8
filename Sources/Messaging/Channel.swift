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
        var observer: WaitObserver?

        var now: Duration { observer?.time.elapsed ?? .zero }
    }

    let name: String
    private let guarded: Lock<Guarded>

    init(name: String, capacity: Int) {
        self.name = name
        guarded = Lock(Guarded(state: State(capacity: capacity)))
    }

    // MARK: Sending

    func offer(_ message: Message) -> State.Offer {
        let offer = guarded.withLock { $0.state.offer(message, at: $0.now) }
        if case .accepted(let reader?) = offer { reader.resume() }
        return offer
    }

    /// Sends the message as soon as there is room for it.
    func wait(with message: Message, ticket: Int) async throws(Undelivered) {
        let refusal = await withTaskCancellationHandler {
            await withUnsafeContinuation { line(up: $0, with: message, ticket: ticket) }
        } onCancel: {
            cancelSender(ticket: ticket)
        }
        if let refusal { throw refusal }
    }

    private func line(up sender: Sender, with message: Message, ticket: Int) {
        let offer: State.Offer? = guarded.withLock {
            // Asked under the lock: a task that is cancelled later finds its sender in the line.
            if Task.isCancelled { return nil }
            return $0.state.wait(with: message, from: sender, ticket: ticket, sentAt: $0.now)
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
    func take(into hand: inout Handful<Message>) -> (State.Taking, WaitObserver?) {
        let (taking, observer) = guarded.withLock { ($0.state.take(into: &hand), $0.observer) }
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
        bid(guarded.withLock { $0.state.hangUp() })
    }

    private func bid(_ farewell: consuming State.Farewell) {
        farewell.reader?.resume()
        while let sender = farewell.refused.popFirst() {
            sender.sender.resume(returning: .closed)
        }
    }

    // MARK: Measuring

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

    func observe(_ observer: WaitObserver) {
        let now = observer.time.elapsed
        guarded.withLock {
            $0.observer = observer
            $0.state.keepTimes(from: now)
        }
    }
}
