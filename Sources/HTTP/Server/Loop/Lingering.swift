import CMicrohttpd
import Glibc

/// Connections that are over for us but not yet for their clients.
///
/// A client that is refused while it still sends would be reset by a plain close, and might never
/// read why. So what it sends is read and forgotten, for a moment and for a few clients only; whoever
/// has been here longest makes room, because it has had the most time to read.
struct Lingering {
    private struct Guest {
        let descriptor: Int32
        let deadline: Duration
    }

    private let capacity: Int
    private var guests: [UInt64: Guest] = [:]

    init(capacity: Int) {
        self.capacity = capacity
    }

    var isEmpty: Bool { guests.isEmpty }
    var count: Int { guests.count }
    var nextDeadline: Duration? { guests.values.map(\.deadline).min() }

    mutating func add(_ descriptor: Int32, as identity: UInt64, until deadline: Duration) {
        if guests.count >= capacity, let longest = guests.keys.min() { end(longest) }
        guests[identity] = Guest(descriptor: descriptor, deadline: deadline)
    }

    /// - Returns: Whether the client was one of them.
    mutating func read(_ identity: UInt64) -> Bool {
        guard let guest = guests[identity] else { return false }
        if cm_discard(guest.descriptor) == 0 { end(identity) }
        return true
    }

    mutating func endAll(before now: Duration) {
        for (identity, guest) in guests where guest.deadline <= now { end(identity) }
    }

    mutating func endAll() {
        for identity in guests.keys { end(identity) }
    }

    private mutating func end(_ identity: UInt64) {
        guard let guest = guests.removeValue(forKey: identity) else { return }
        close(guest.descriptor)
    }
}
