import System

/// Who waits, each account in a line of its own, and in it each kind of request.
///
/// The accounts take turns, so that one with ten thousand requests holds up another's by one. Within
/// an account, whoever came first goes first, unless its kind has to wait and another has not.
///
/// However many wait, to come, to leave and to be next costs the same, or its logarithm.
struct FairLine<Waiting: Sendable, Kind: Hashable & CaseIterable & Sendable>: Sendable {
    private struct Key: Hashable {
        let account: String
        let kind: Kind
    }

    private struct Place {
        let key: Key
        let number: Int
    }

    private var lines: [Key: Line] = [:]
    private var places: [Int: Place] = [:]
    /// Until when each is ready to wait.
    private var deadlines = Ranking<Int, Duration>()
    /// The turn of each account that waits; the least is next.
    private var turns: [String: Int] = [:]
    private var lastTurn = 0
    /// Of each kind the accounts that wait so, by their turns.
    private var byKind: [Kind: Ranking<String, Int>] = [:]

    var count: Int { places.count }

    /// How much is kept of those who wait and of those who did.
    var remembered: Int {
        lines.count + turns.count + deadlines.remembered
            + byKind.values.reduce(0) { $0 + $1.remembered }
    }

    /// Those that there are.
    var kinds: [Kind] { Kind.allCases.filter { byKind[$0]?.isEmpty == false } }
    /// Everybody, in the order in which they came.
    var tickets: [Int] { places.keys.sorted() }
    /// When the next of them will not wait any longer.
    var firstDeadline: Duration? { deadlines.first?.rank }

    /// - Parameter deadline: Until when it is ready to wait.
    mutating func append(
        _ waiting: Waiting,
        ticket: Int,
        account: String,
        kind: Kind,
        until deadline: Duration
    ) {
        let key = Key(account: account, kind: kind)
        let turn = turns[account] ?? takeTurn(account)
        byKind[kind, default: Ranking()].set(account, at: turn)
        let number = lines[key, default: Line()].append((ticket, waiting))
        places[ticket] = Place(key: key, number: number)
        deadlines.set(ticket, at: deadline)
    }

    @discardableResult
    mutating func remove(_ ticket: Int) -> Waiting? {
        guard let place = places.removeValue(forKey: ticket) else { return nil }
        deadlines.remove(ticket)
        let taken = lines[place.key]?.take(place.number)
        if lines[place.key]?.isEmpty == true { leave(place.key) }
        return taken?.waiting
    }

    /// Takes out the first of those kinds that may go; its account goes to the end of the turns.
    mutating func next(of kinds: [Kind]) -> (ticket: Int, waiting: Waiting)? {
        let heads = kinds.compactMap { byKind[$0]?.first }
        guard let account = heads.min(by: { $0.rank < $1.rank })?.id else { return nil }
        let firsts = kinds.compactMap { lines[Key(account: account, kind: $0)]?.first }
        guard let first = firsts.min(by: { $0.ticket < $1.ticket }) else { return nil }
        remove(first.ticket)
        if turns[account] != nil { goToTheEnd(account) }
        return first
    }

    /// One whose deadline has come. It stays in line, and has no deadline any more.
    mutating func overdue(at now: Duration) -> (ticket: Int, waiting: Waiting)? {
        guard let ticket = deadlines.takeFirst(upTo: now), let place = places[ticket] else {
            return nil
        }
        return lines[place.key]?.element(at: place.number)
    }

    mutating func postpone(_ ticket: Int, until deadline: Duration) {
        deadlines.set(ticket, at: deadline)
    }

    private mutating func leave(_ key: Key) {
        lines[key] = nil
        byKind[key.kind]?.remove(key.account)
        let waits = Kind.allCases.contains { lines[Key(account: key.account, kind: $0)] != nil }
        if !waits { turns[key.account] = nil }
    }

    private mutating func takeTurn(_ account: String) -> Int {
        lastTurn += 1
        turns[account] = lastTurn
        return lastTurn
    }

    private mutating func goToTheEnd(_ account: String) {
        let turn = takeTurn(account)
        for kind in Kind.allCases where lines[Key(account: account, kind: kind)] != nil {
            byKind[kind]?.set(account, at: turn)
        }
    }
}

extension FairLine {
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
