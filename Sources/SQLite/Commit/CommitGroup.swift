/// Edits that share a commit, and those who wait for it.
///
/// Lives and dies inside one transaction of the ``Writer``, and never leaves its executor.
final class CommitGroup {
    let rowsBefore: Int
    private(set) var edits = 0
    private(set) var isOpen = true
    /// Why nothing of it was kept, once it is no longer open.
    private(set) var error: DatabaseError?
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    init(rowsBefore: Int) { self.rowsBefore = rowsBefore }

    func join() { edits += 1 }

    func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        if isOpen {
            waiting.append(continuation)
        } else {
            continuation.resume()
        }
    }

    /// Everybody hears the same: the commit is whole or it is nothing.
    func conclude(_ error: DatabaseError?) {
        isOpen = false
        self.error = error
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
