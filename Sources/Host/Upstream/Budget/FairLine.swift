/// Who waits, each account in a line of its own, and in it each pace.
///
/// The accounts take turns, so that one with ten thousand requests holds up another's by one. Within
/// an account, whoever came first goes first, unless its pace has to wait and another's has not.
///
/// However many wait, to come, to leave and to be next costs the same, or its logarithm.
struct FairLine<Waiting: Sendable>: Sendable {
    private struct Key: Hashable {
        let account: String
        let pace: Pace
    }

    private struct Place {
        let key: Key
        let number: Int
        var deadline: Duration
    }

    private var lines: [Key: Line] = [:]
    /// The turn of each account that waits; the smallest is next.
    private var turns: [String: Int] = [:]
    private var lastTurn = 0
    /// For each pace the accounts by their turns. An account that has had its turn since, or waits no
    /// more, is passed over.
    private var queues: [Pace: Heap<Int, String>] = [:]
    private var accountCounts: [Pace: Int] = [:]
    private var places: [Int: Place] = [:]
    private var deadlines = Heap<Duration, Int>()

    var count: Int { places.count }

    /// How much is kept of those who wait and of those who did.
    var remembered: Int {
        lines.count + turns.count + deadlines.count + queues.values.reduce(0) { $0 + $1.count }
    }

    /// - Parameter deadline: How long it is ready to wait.
    mutating func append(
        _ waiting: Waiting,
        ticket: Int,
        account: String,
        pace: Pace,
        until deadline: Duration
    ) {
        let key = Key(account: account, pace: pace)
        if turns[account] == nil { takeTurn(account) }
        if lines[key] == nil { join(key) }
        let number = lines[key, default: Line()].append((ticket, waiting))
        places[ticket] = Place(key: key, number: number, deadline: deadline)
        deadlines.insert(ticket, at: deadline)
        if deadlines.count > 64, deadlines.count > 2 * places.count {
            deadlines = Heap(places.map { ($0.value.deadline, $0.key) })
        }
    }

    @discardableResult
    mutating func remove(_ ticket: Int) -> Waiting? {
        guard let place = places.removeValue(forKey: ticket) else { return nil }
        let taken = lines[place.key]?.take(place.number)
        if lines[place.key]?.isEmpty == true {
            lines[place.key] = nil
            accountCounts[place.key.pace, default: 1] -= 1
            if !waits(place.key.account) { turns[place.key.account] = nil }
        }
        return taken?.waiting
    }

    /// Takes out the first of those paces that may go; its account goes to the end of the turns.
    mutating func next(of paces: [Pace]) -> (ticket: Int, waiting: Waiting)? {
        var next: (turn: Int, account: String)?
        for pace in paces {
            guard let head = head(of: pace) else { continue }
            if next.map({ head.turn < $0.turn }) ?? true { next = head }
        }
        guard let account = next?.account else { return nil }
        let heads = paces.compactMap { lines[Key(account: account, pace: $0)]?.first }
        guard let first = heads.min(by: { $0.ticket < $1.ticket }) else { return nil }
        remove(first.ticket)
        if turns[account] != nil { goToTheEnd(account) }
        return first
    }

    var paces: [Pace] { Pace.allCases.filter { accountCounts[$0, default: 0] > 0 } }

    /// Everybody, in the order in which they came.
    var tickets: [Int] { places.keys.sorted() }

    /// When the next of them will not wait any longer.
    var firstDeadline: Duration? {
        mutating get {
            while let first = deadlines.first, places[first.element]?.deadline != first.key {
                deadlines.removeFirst()
            }
            return deadlines.first?.key
        }
    }

    /// One whose deadline has come. Whoever asks takes it out of the line, or sets another deadline.
    mutating func overdue(at now: Duration) -> (ticket: Int, waiting: Waiting)? {
        guard let deadline = firstDeadline, deadline <= now, let ticket = deadlines.first?.element,
            let place = places[ticket]
        else { return nil }
        return lines[place.key]?.element(at: place.number)
    }

    mutating func postpone(_ ticket: Int, until deadline: Duration) {
        places[ticket]?.deadline = deadline
        deadlines.insert(ticket, at: deadline)
    }
}

// MARK: - Turns

extension FairLine {
    private func waits(_ account: String) -> Bool {
        Pace.allCases.contains { lines[Key(account: account, pace: $0)] != nil }
    }

    private mutating func takeTurn(_ account: String) {
        lastTurn += 1
        turns[account] = lastTurn
    }

    private mutating func goToTheEnd(_ account: String) {
        takeTurn(account)
        for pace in Pace.allCases where lines[Key(account: account, pace: pace)] != nil {
            lineUp(account, pace)
        }
    }

    private mutating func join(_ key: Key) {
        accountCounts[key.pace, default: 0] += 1
        lineUp(key.account, key.pace)
    }

    private mutating func lineUp(_ account: String, _ pace: Pace) {
        guard let turn = turns[account] else { return }
        queues[pace, default: Heap()].insert(account, at: turn)
        tidy(pace)
    }

    /// Accounts that came and left while nobody of their pace could go are forgotten by and by.
    private mutating func tidy(_ pace: Pace) {
        guard let queue = queues[pace], queue.count > 64,
            queue.count > 2 * accountCounts[pace, default: 0]
        else { return }
        var seen: Set<String> = []
        queues[pace] = Heap(
            queue.all.filter { turns[$0.element] == $0.key && seen.insert($0.element).inserted }
        )
    }

    /// The account of a pace whose turn is next.
    private mutating func head(of pace: Pace) -> (turn: Int, account: String)? {
        while let (turn, account) = queues[pace]?.first {
            let isValid = turns[account] == turn
            if isValid, lines[Key(account: account, pace: pace)] != nil { return (turn, account) }
            queues[pace]?.removeFirst()
        }
        return nil
    }

    /// First in, first out, but anybody may leave before.
    private struct Line: Sendable {
        private var waiting: [(ticket: Int, waiting: Waiting)?] = []
        private var head = 0
        /// How many were cut off from the front; places are counted from the very first on.
        private var cut = 0

        var first: (ticket: Int, waiting: Waiting)? { head < waiting.count ? waiting[head] : nil }
        var isEmpty: Bool { head == waiting.count }

        mutating func append(_ element: (ticket: Int, waiting: Waiting)) -> Int {
            waiting.append(element)
            return cut + waiting.count - 1
        }

        func element(at place: Int) -> (ticket: Int, waiting: Waiting)? {
            let index = place - cut
            return waiting.indices.contains(index) ? waiting[index] : nil
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
