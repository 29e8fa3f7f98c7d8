/// Edits that share a commit, and those who wait for it.
///
/// Lives and dies inside one transaction of the ``Writer``, and never leaves its executor.
final class CommitGroup {
    enum Fate {
        case open
        case kept
        /// Everybody hears the same: the commit is whole or it is nothing.
        case failed(DatabaseError)
        /// One edit took the transaction away from all. The others are run again, without it.
        case lost
    }

    let rowsBefore: Int
    private(set) var edits = 0
    private(set) var fate = Fate.open
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    init(rowsBefore: Int) { self.rowsBefore = rowsBefore }

    var isOpen: Bool {
        if case .open = fate { true } else { false }
    }

    func join() { edits += 1 }

    func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        if isOpen {
            waiting.append(continuation)
        } else {
            continuation.resume()
        }
    }

    func conclude(_ fate: Fate) {
        self.fate = fate
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
