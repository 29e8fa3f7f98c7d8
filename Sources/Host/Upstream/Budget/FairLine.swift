/// Who waits, each account in a line of its own, and in it each pace.
///
/// The accounts take turns, so that one with ten thousand requests holds up another's by one. Within
/// an account, whoever came first goes first, unless its pace has to wait and another's has not.
struct FairLine<Waiting: Sendable>: Sendable {
    private var lines: [String: [Pace: Queue]] = [:]
    /// The accounts in the order of their turns; the first is next.
    private var turns: [String] = []
    private var places: [Int: Place] = [:]

    private struct Place {
        let account: String
        let pace: Pace
        let number: Int
    }

    var count: Int { places.count }

    mutating func append(_ waiting: Waiting, ticket: Int, account: String, pace: Pace) {
        if lines[account] == nil { turns.append(account) }
        let number = lines[account, default: [:]][pace, default: Queue()].append((ticket, waiting))
        places[ticket] = Place(account: account, pace: pace, number: number)
    }

    @discardableResult
    mutating func remove(_ ticket: Int) -> Waiting? {
        guard let place = places.removeValue(forKey: ticket) else { return nil }
        let taken = lines[place.account]?[place.pace]?.take(place.number)
        if lines[place.account]?.values.allSatisfy(\.isEmpty) == true {
            lines[place.account] = nil
            turns.removeAll { $0 == place.account }
        }
        return taken?.waiting
    }

    /// Takes out the first of those paces that may go; its account goes to the end of the turns.
    mutating func next(of paces: Set<Pace>) -> (ticket: Int, waiting: Waiting)? {
        for (position, account) in turns.enumerated() {
            let heads = paces.compactMap { lines[account]?[$0]?.first }
            guard let first = heads.min(by: { $0.ticket < $1.ticket }) else { continue }
            remove(first.ticket)
            if lines[account] != nil {
                turns.remove(at: position)
                turns.append(account)
            }
            return first
        }
        return nil
    }

    var paces: Set<Pace> { Set(places.values.lazy.map(\.pace)) }

    /// Everybody, the accounts in turn.
    var all: [(ticket: Int, waiting: Waiting)] {
        turns.flatMap { account in
            Pace.allCases.flatMap { lines[account]?[$0]?.elements ?? [] }
        }
    }
}

extension FairLine {
    /// First in, first out, but anybody may leave before.
    private struct Queue: Sendable {
        private var waiting: [(ticket: Int, waiting: Waiting)?] = []
        private var head = 0
        /// How many were cut off from the front; places are counted from the very first on.
        private var cut = 0

        var first: (ticket: Int, waiting: Waiting)? { head < waiting.count ? waiting[head] : nil }
        var isEmpty: Bool { head == waiting.count }
        var elements: [(ticket: Int, waiting: Waiting)] { waiting.compactMap(\.self) }

        mutating func append(_ element: (ticket: Int, waiting: Waiting)) -> Int {
            waiting.append(element)
            return cut + waiting.count - 1
        }

        /// Leaves a gap, because the others' places keep their numbers. Gaps at the front are cut off
        /// by and by.
        mutating func take(_ place: Int) -> (ticket: Int, waiting: Waiting)? {
            let index = place - cut
            guard waiting.indices.contains(index) else { return nil }
            let taken = waiting[index]
            waiting[index] = nil
            while head < waiting.count, waiting[head] == nil { head += 1 }
            if head > 64 && head > waiting.count / 2 {
                waiting.removeFirst(head)
                (cut, head) = (cut + head, 0)
            }
            return taken
        }
    }
}
