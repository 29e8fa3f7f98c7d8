import System

/// The series of a metric whose label values appear later: names that come up while the host is
/// being wired.
///
/// Bounded, because every value is a series that stays for ever here and in Prometheus. What
/// appears after that is counted together as `other`.
public struct Growing<Member: Sendable>: Sendable {
    private struct State {
        var members: [String: Member] = [:]
        var isFull: Bool { members.count >= limit }
        let limit: Int
    }

    // A class, so that all copies of this grow together.
    private final class Storage: Sendable {
        let state: Lock<State>
        init(limit: Int) { state = Lock(State(limit: limit)) }
    }

    private let storage: Storage
    private let make: @Sendable (String) -> Member

    init(atMost limit: Int, make: @escaping @Sendable (String) -> Member) {
        storage = Storage(limit: limit)
        self.make = make
    }

    /// The series of that value, at 0 when it is new. Takes a lock; keep the member.
    public subscript(_ value: String) -> Member {
        storage.state.withLock { state in
            if let member = state.members[value] { return member }
            let name = state.isFull ? "other" : value
            if let member = state.members[name] { return member }
            let member = make(name)
            state.members[name] = member
            return member
        }
    }
}
