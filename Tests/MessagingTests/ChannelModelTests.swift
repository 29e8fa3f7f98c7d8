import System
import Testing

@testable import Messaging

/// The state against a model so simple that it has to be right: arrays, and no handfuls.
struct ChannelModelTests {
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `whatever happens, the state does as the model says`(seed: UInt64) {
        let chance = SeededChance(seed: seed)
        var pair = Pair(capacity: chance.number(in: 1..<12))
        for _ in 0..<400 {
            pair.step(chance)
            pair.compare(seed: seed)
        }
    }
}

/// What a channel is, said in the plainest way.
private struct Model {
    let capacity: Int
    var queue: [Int] = []
    var inHand: [Int] = []
    var line: [(ticket: Int, message: Int)] = []
    var read: [Int] = []
    var admitted: [Int] = []
    var isOpen = true
    var isReaderAsleep = false

    var hasRoom: Bool { queue.count + inHand.count < capacity }

    mutating func take(_ count: Int) {
        read += inHand
        inHand = Array(queue.prefix(count))
        queue.removeFirst(count)
        if let first = inHand.first {
            read.append(first)
            inHand.removeFirst()
        }
        while hasRoom, !line.isEmpty {
            let first = line.removeFirst()
            queue.append(first.message)
            admitted.append(first.message)
        }
    }
}

private struct Pair {
    var state: ChannelState<Int, Int, Int>
    var model: Model
    var hand = Handful<Int>()
    var read: [Int] = []
    var admitted: [Int] = []
    var nextMessage = 0

    init(capacity: Int) {
        state = ChannelState(capacity: capacity)
        model = Model(capacity: capacity)
    }

    mutating func step(_ chance: SeededChance) {
        switch chance.number(in: 0..<100) {
        case ..<50: send()
        case ..<80: take()
        case ..<90: cancel(chance)
        case ..<98: park()
        default: if chance.number(in: 0..<4) == 0 { close() }
        }
    }

    mutating func send() {
        nextMessage += 1
        switch state.offer(nextMessage) {
        case .accepted(let reader):
            #expect(model.isOpen && model.hasRoom && model.line.isEmpty)
            #expect((reader != nil) == model.isReaderAsleep)
            model.isReaderAsleep = false
            model.queue.append(nextMessage)
        case .full(let ticket):
            #expect(model.isOpen && !model.hasRoom)
            let waiting = state.wait(with: nextMessage, from: nextMessage, ticket: ticket)
            #expect(waiting.isFull)
            model.line.append((ticket, nextMessage))
        case .closed:
            #expect(!model.isOpen)
        }
    }

    mutating func take() {
        read += hand.messages.drain()
        switch state.take(into: &hand) {
        case .taken(let senders):
            admitted += senders
            model.take(hand.messages.count)
        case .empty:
            model.take(0)
            #expect(model.isOpen && model.queue.isEmpty)
        case .ended:
            model.take(0)
            #expect(!model.isOpen && model.queue.isEmpty)
        }
    }

    mutating func cancel(_ chance: SeededChance) {
        guard let victim = model.line.indices.randomElement(by: chance) else {
            #expect(state.cancelSender(ticket: .max) == nil)
            return
        }
        let (ticket, message) = model.line.remove(at: victim)
        #expect(state.cancelSender(ticket: ticket)?.message == message)
    }

    mutating func park() {
        guard !model.isReaderAsleep else { return }
        let sleeps = state.park(1) == nil
        #expect(sleeps == (model.isOpen && model.queue.isEmpty))
        model.isReaderAsleep = sleeps
    }

    mutating func close() {
        var farewell = state.close()
        #expect(farewell.refused.drain().map(\.message) == model.line.map(\.message))
        #expect((farewell.reader != nil) == model.isReaderAsleep)
        model.isReaderAsleep = false
        model.line = []
        model.isOpen = false
    }

    func compare(seed: UInt64) {
        #expect(state.depth == model.queue.count + model.inHand.count, "seed \(seed)")
        #expect(state.taken == model.read.count, "seed \(seed)")
        #expect(state.waitingCount == model.line.count, "seed \(seed)")
        #expect(state.depth <= state.capacity, "seed \(seed)")
        #expect(state.waitingCount == 0 || state.depth == state.capacity, "seed \(seed)")
        #expect(admitted == model.admitted, "seed \(seed)")
        #expect(model.read.starts(with: read), "seed \(seed)")
    }
}

extension Range<Int> {
    func randomElement(by chance: SeededChance) -> Int? {
        isEmpty ? nil : chance.number(in: self)
    }
}
