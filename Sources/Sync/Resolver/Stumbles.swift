internal import System

/// Which of an account's changes have failed for what is most often the network's or the server's trouble,
/// and how often each of them has waited by itself for that. The next process begins anew.
final class Stumbles: Sendable {
    private let waits = Lock<[String: Int64]>([:])

    var changeIDs: Set<String> { waits.withLock { Set($0.keys) } }

    func add(_ changeID: String) {
        waits.withLock { if $0[changeID] == nil { $0[changeID] = 0 } }
    }

    /// Counts one more wait.
    ///
    /// - Returns: Which it is, from 1 on.
    func countWait(of changeID: String) -> Int64 {
        waits.withLock { waits in
            let count = waits[changeID, default: 0] + 1
            waits[changeID] = count
            return count
        }
    }

    func forgetAll(but pending: Set<String>) {
        waits.withLock { waits in waits = waits.filter { pending.contains($0.key) } }
    }
}
