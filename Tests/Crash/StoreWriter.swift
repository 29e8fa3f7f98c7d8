import CrashStory
import Glibc
import Sync
import System
import Vault

/// Tells its stories to a store until it is killed, and says of each step on standard output when it
/// was acknowledged.
///
/// `store-writer DIRECTORY ROUND WRITERS`
@main
struct StoreWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let writers = Int(arguments[3]) else { exit(64) }
        let opened = try await Store.open(
            in: StateDirectory(arguments[1]),
            time: SystemTimekeeper(),
            chance: SystemChance()
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    try await write(as: "\(arguments[2])-\(writer)", into: opened.store)
                }
            }
            try await group.waitForAll()
        }
    }

    private static func write(as user: String, into store: Store) async throws {
        var story = Story(of: user)
        for step in 0... {
            try await story.tell(step, in: store)
            let line = "\(user) \(step)\n"
            _ = line.withCString { Glibc.write(STDOUT_FILENO, $0, strlen($0)) }
        }
    }
}
