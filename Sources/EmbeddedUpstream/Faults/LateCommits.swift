import Messaging
import System

/// A call whose client has been cut off, and that is carried out nevertheless, later.
struct LateCommit: Sendable {
    let after: Duration
    let call: Call
    let route: Routes.Route
}

/// Carries out late what clients have given up.
final class LateCommits: Sendable {
    private let mailbox = Mailbox<LateCommit>(name: "late-commits")
    private let time: any Timekeeper

    init(time: any Timekeeper) {
        self.time = time
    }

    var address: Address<LateCommit> { mailbox.address }

    func run(for ledger: Ledger) async {
        await withDiscardingTaskGroup { commits in
            for await commit in mailbox {
                commits.addTask { [time] in
                    guard (try? await time.sleep(for: commit.after)) != nil else { return }
                    _ = await ledger.carryOut(commit.call, commit.route)
                }
            }
        }
    }

    func close() { mailbox.close() }
}
