/// Edits that share a commit, and those who wait for it.
///
/// Lives and dies inside one transaction of the ``Writer``, and never leaves its executor.
final class CommitGroup {
    enum Fate: Sendable {
        case kept
        /// Everybody hears the same: the commit is whole or it is nothing.
        case failed(DatabaseError)
        /// One edit took the transaction away from all. The others are run again, without it.
        case lost
    }

    /// What became of the group, and who is still to be told: all others, by the one who led it.
    struct Verdict: Sendable {
        let fate: Fate
        fileprivate(set) var others: [UnsafeContinuation<Verdict, Never>] = []

        func passOn() {
            for other in others { other.resume(returning: Verdict(fate: fate)) }
        }
    }

    let rowsBefore: Int
    private(set) var edits = 0
    /// None yet while the group is open.
    private(set) var fate: Fate?
    private var waiting: [UnsafeContinuation<Verdict, Never>] = []

    init(rowsBefore: Int) { self.rowsBefore = rowsBefore }

    func join() { edits += 1 }

    func wait(_ continuation: UnsafeContinuation<Verdict, Never>) {
        if let fate {
            continuation.resume(returning: Verdict(fate: fate))
        } else {
            waiting.append(continuation)
        }
    }

    func conclude(_ fate: Fate) { self.fate = fate }

    /// The leader's verdict. To be taken once, and to be passed on.
    func takeVerdict() -> Verdict {
        guard let fate else { preconditionFailure("A group is led until it is concluded.") }
        defer { waiting = [] }
        return Verdict(fate: fate, others: waiting)
    }
}
