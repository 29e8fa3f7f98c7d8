import Testing

@testable import Messaging

/// The channel's mind, without a task. Senders and readers are numbers.
struct ChannelStateTests {
    typealias State = ChannelState<String, Int, Int>

    var state = State(capacity: 2)

    @Test mutating func `a message waits until it is read`() {
        #expect(state.offer("a").isAccepted)
        #expect(state.depth == 1)
        #expect(state.read() == ["a"])
        #expect(state.depth == 0)
        #expect(state.taken == 1)
    }

    @Test mutating func `messages are read in the order in which they were sent`() {
        _ = state.offer("a")
        _ = state.offer("b")
        #expect(state.read() + state.read() == ["a", "b"])
    }

    @Test mutating func `a full mailbox makes its senders wait`() {
        let ticket = state.fill()
        #expect(state.wait(with: "c", from: 3, ticket: ticket).isFull)
        #expect(state.waitingCount == 1)
        #expect(state.depth == 2)
    }

    @Test mutating func `the reader lets waiting senders in, first come first served`() {
        var hand = Handful<String>()
        for (message, sender) in [("c", 3), ("d", 4), ("e", 5)] {
            _ = state.wait(with: message, from: sender, ticket: state.fill())
        }
        #expect(state.take(into: &hand).admitted == [3])
        #expect(state.take(into: &hand).admitted == [4])
        #expect(state.take(into: &hand).admitted == [5])
        #expect(state.read() + state.read() == ["d", "e"])
    }

    @Test mutating func `a newcomer does not overtake who waits`() {
        _ = state.wait(with: "c", from: 3, ticket: state.fill())
        _ = state.read()
        #expect(state.offer("newcomer").isFull, "The room that came free went to who waited.")
    }

    @Test mutating func `room that came free between asking and waiting is used`() {
        let ticket = state.fill()
        _ = state.read()
        #expect(state.wait(with: "c", from: 3, ticket: ticket).isAccepted)
        #expect(state.waitingCount == 0)
    }

    @Test mutating func `a sender that is cancelled takes its message with it`() {
        let ticket = state.fill()
        _ = state.wait(with: "c", from: 3, ticket: ticket)
        let cancelled = state.cancelSender(ticket: ticket)
        #expect(cancelled?.sender == 3)
        #expect(cancelled?.message == "c")
        #expect(state.readAll() == ["a", "b"])
        #expect(state.cancelSender(ticket: ticket) == nil)
    }

    @Test mutating func `a sender that was let in cannot be cancelled any more`() {
        let ticket = state.fill()
        _ = state.wait(with: "c", from: 3, ticket: ticket)
        _ = state.read()
        #expect(state.cancelSender(ticket: ticket) == nil)
        #expect(state.readAll() == ["b", "c"])
    }

    @Test mutating func `the first message wakes a sleeping reader, the second wakes nobody`() {
        #expect(state.park(1) == nil)
        #expect(state.offer("a").woken == 1)
        #expect(state.offer("b").woken == nil)
    }

    @Test mutating func `what sleeps at the line is awaited, and nothing that is awake`() {
        #expect(!state.isAwaited)
        #expect(state.park(1) == nil)
        #expect(state.isAwaited)
        _ = state.offer("a")
        #expect(!state.isAwaited)
    }

    @Test mutating func `a reader does not fall asleep over a message`() {
        _ = state.offer("a")
        #expect(state.park(1) == 1)
    }

    @Test mutating func `what is queued is read after closing, then it ends`() {
        _ = state.offer("a")
        _ = state.close()
        #expect(!state.offer("b").isAccepted)
        #expect(state.read() == ["a"])
        var hand = Handful<String>()
        #expect(state.take(into: &hand).isEnded)
    }

    @Test mutating func `closing refuses waiting senders and wakes the reader`() {
        _ = state.wait(with: "c", from: 3, ticket: state.fill())
        var farewell = state.close()
        #expect(farewell.refused.popFirst()?.sender == 3)
        #expect(farewell.unread.isEmpty)

        var idle = State(capacity: 1)
        _ = idle.park(1)
        #expect(idle.close().reader == 1)
        #expect(idle.park(1) == 1, "Nothing will come, so nobody sleeps.")
    }

    @Test mutating func `hanging up hands out what nobody read`() {
        _ = state.wait(with: "c", from: 3, ticket: state.fill())
        var farewell = state.hangUp()
        #expect(farewell.unread.popFirst() == "a")
        #expect(farewell.unread.popFirst() == "b")
        #expect(farewell.refused.popFirst()?.sender == 3)
        #expect(state.depth == 0)
        #expect(state.hangUp().unread.isEmpty)
    }

    @Test func `a handful is a quarter of the capacity, and its messages still count`() {
        var state = State(capacity: 8)
        for number in 0..<8 { _ = state.offer("\(number)") }
        var hand = Handful<String>()
        _ = state.take(into: &hand)
        #expect(hand.messages.count == 2)
        #expect(state.depth == 7, "The reader has come to one of them.")
        #expect(state.taken == 1)
        #expect(state.offer("8").isAccepted)
        #expect(state.offer("9").isFull)
    }

    @Test mutating func `times are kept only once somebody wants to know`() {
        var hand = Handful<String>()
        _ = state.offer("a", at: .seconds(1))
        _ = state.take(into: &hand)
        #expect(hand.times.isEmpty)

        _ = state.offer("b", at: .seconds(1))
        state.keepTimes(from: .seconds(5))
        _ = state.offer("c", at: .seconds(6))
        _ = state.take(into: &hand)
        #expect(hand.times.popFirst() == .seconds(5))
        _ = state.take(into: &hand)
        #expect(hand.times.popFirst() == .seconds(6))
    }

    @Test func `a second reader stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let mailbox = Mailbox<Int>(name: "test")
            let first = mailbox.makeAsyncIterator()
            withExtendedLifetime(first) { _ = mailbox.makeAsyncIterator() }
        }
    }
}

extension ChannelState where Message == String, Sender == Int, Reader == Int {
    /// Fills the rest with messages and returns the ticket of a sender who finds no room.
    mutating func fill() -> Int {
        for message in ["a", "b", "x", "y"] {
            if case .full(let ticket) = offer(message) { return ticket }
        }
        preconditionFailure("The mailbox does not get full.")
    }

    mutating func read() -> [String] {
        var hand = Handful<String>()
        _ = take(into: &hand)
        return hand.messages.drain()
    }

    mutating func readAll() -> [String] {
        var all: [String] = []
        while case let some = read(), !some.isEmpty { all += some }
        return all
    }
}

extension Ring {
    mutating func drain() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        return all
    }
}

extension WaitingLine {
    mutating func drain() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        return all
    }
}

extension ChannelState.Offer {
    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var isFull: Bool { if case .full = self { true } else { false } }
    var woken: Reader? { if case .accepted(let reader) = self { reader } else { nil } }
}

extension ChannelState.Taking {
    var admitted: [Sender] { if case .taken(let senders) = self { senders } else { [] } }
    var isEnded: Bool { if case .ended = self { true } else { false } }
}
