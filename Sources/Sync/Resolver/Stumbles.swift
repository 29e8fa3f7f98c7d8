internal import System

/// Which of an account's changes have failed for what is most often the network's or the server's trouble,
/// and how often each of them has waited by itself for that. The next process begins anew.
final class Stumbles: Sendable {
    private let waits = Lock<[String: Int64]>([:])

    func failed(_ changeID: String) {
        waits.withLock { $0[changeID] = $0[changeID] ?? 0 }
    }

    /// - Returns: Which wait it is.
    func waits(_ changeID: String) -> Int64 {
        waits.withLock { waits in
            waits[changeID, default: 0] += 1
            return waits[changeID, default: 1]
        }
    }

    var changeIDs: Set<String> { waits.withLock { Set($0.keys) } }

    func forgetAll(but pending: Set<String>) {
        waits.withLock { waits in waits = waits.filter { pending.contains($0.key) } }
    }
}
