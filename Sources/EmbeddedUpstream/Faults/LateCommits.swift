import Messaging
import System

/// A call whose client has been cut off, and that is carried out nevertheless, later.
struct LateCommit: Sendable {
    let number: Int
    let due: Duration
    let call: Call
    let route: Routes.Route
}

/// Carries out late what clients have given up.
final class LateCommits: Sendable {
    private let mailbox = Mailbox<LateCommit>(name: "late-commits")
    private let time: any Timekeeper
    private let owed = Lock(Owed())

    /// When what is not carried out yet is due.
    private struct Owed {
        var last = 0
        var due: [Int: Duration] = [:]
    }

    init(time: any Timekeeper) {
        self.time = time
    }

    /// Whether something is due, and not carried out yet.
    var isBehind: Bool {
        let now = time.elapsed
        return owed.withLock { $0.due.values.contains { $0 <= now } }
    }

    /// The time counts from here on, however long it is until somebody attends to it.
    func owe(_ call: Call, _ route: Routes.Route, after duration: Duration) async {
        let due = time.elapsed + duration
        let number = owed.withLock { owed in
            owed.last += 1
            owed.due[owed.last] = due
            return owed.last
        }
        let commit = LateCommit(number: number, due: due, call: call, route: route)
        if (try? await mailbox.address.tell(commit)) == nil { settle(number) }
    }

    func run(for ledger: Ledger) async {
        await withDiscardingTaskGroup { commits in
            for await commit in mailbox {
                commits.addTask { [time] in
                    defer { self.settle(commit.number) }
                    guard (try? await time.sleep(until: commit.due)) != nil else { return }
                    _ = await ledger.carryOut(commit.call, commit.route)
                }
            }
        }
    }

    func close() { mailbox.close() }

    private func settle(_ number: Int) {
        owed.withLock { $0.due[number] = nil }
    }
}
