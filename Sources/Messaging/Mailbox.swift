import System

/// Where a service reads what it is told and asked.
///
/// A mailbox has one reader. When its loop ends, for whatever reason, the line is hung up: waiting
/// senders hear ``Undelivered/closed``, and what nobody has read answers for itself. The same happens
/// when the mailbox goes away without ever having been read.
///
/// ```swift
/// for await message in mailbox { … }
/// ```
///
/// The loop ends when the mailbox is closed and empty, or at once when its task is cancelled.
public final class Mailbox<Message: Sendable>: Sendable {
    public let address: Address<Message>

    private var channel: Channel<Message> { address.channel }

    /// - Parameters:
    ///   - name: What the channel is called in metrics.
    ///   - capacity: How many messages may wait to be read before their senders have to wait.
    public init(name: String, capacity: Int = 256) {
        address = Address(channel: Channel(name: name, capacity: capacity))
    }

    /// Lets nothing more in. What is queued is still read, then the reader's loop ends.
    public func close() {
        channel.close()
    }

    deinit { channel.hangUp() }
}

extension Mailbox: AsyncSequence {
    public typealias Element = Message
    public typealias Failure = Never

    public func makeAsyncIterator() -> Iterator {
        Iterator(mailbox: self, channel: channel)
    }

    /// The reader. Not to be shared between tasks.
    public final class Iterator: AsyncIteratorProtocol {
        private let mailbox: Mailbox
        private let channel: Channel<Message>
        private var hand = Handful<Message>()
        private var observer: LineObserver?

        fileprivate init(mailbox: Mailbox, channel: Channel<Message>) {
            self.mailbox = mailbox
            self.channel = channel
            channel.admitReader()
        }

        public func next(isolation: isolated (any Actor)? = #isolation) async -> Message? {
            while !Task.isCancelled {
                if let message = hand.messages.popFirst() {
                    if let observer { report(to: observer) }
                    return message
                }
                let (taking, observer) = channel.take(into: &hand)
                switch taking {
                case .taken: self.observer = observer
                case .empty: await channel.waitForMessage()
                case .ended: return nil
                }
            }
            hangUp()
            return nil
        }

        private func hangUp() {
            channel.hangUp()
            hand = Handful()
        }

        private func report(to observer: LineObserver) {
            guard let sentAt = hand.times.popFirst() else { return }
            observer.waited(observer.time.elapsed - sentAt)
        }

        deinit { channel.hangUp() }
    }
}

extension Mailbox {
    /// Handles messages side by side, at most so many at once; the others wait in the mailbox, and then
    /// with their senders. Returns when the mailbox is closed and what was in it has been handled.
    public func handle(
        atOnce limit: Int,
        _ body: @escaping @Sendable (Message) async -> Void
    ) async {
        let places = Places(limit)
        // A group that collects results would keep every task that has ended, with all its memory,
        // until somebody fetched that: for most accounts, for ever.
        await withDiscardingTaskGroup { tasks in
            for await message in self {
                await places.take()
                tasks.addTask {
                    await body(message)
                    places.giveBack()
                }
            }
        }
    }

    /// The same where some messages may take long, and wait for each other: those that take no time are
    /// answered all the same. Beyond what may wait, messages are refused.
    public func handle(
        atOnce limit: Int,
        waiting most: Int,
        besides isQuick: @escaping @Sendable (Message) -> Bool,
        refusing refuse: @escaping @Sendable (Message) -> Void,
        _ body: @escaping @Sendable (Message) async -> Void
    ) async {
        let backlog = Backlog<Message>(places: limit, most: most)
        await withDiscardingTaskGroup { tasks in
            for await message in self {
                if isQuick(message) {
                    tasks.addTask { await body(message) }
                    continue
                }
                switch backlog.admit(message) {
                case .now:
                    tasks.addTask {
                        await body(message)
                        while let next = backlog.next() { await body(next) }
                    }
                case .later: break
                case .full: refuse(message)
                }
            }
        }
    }
}
