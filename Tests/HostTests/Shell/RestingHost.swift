import Glibc
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// A host with accounts that were signed in before its start, on a server where nobody answers.
struct RestingHost {
    let count: Int
    let timekeeper: any Timekeeper
    /// Its services begin when this is opened; nil for at once.
    var beginning: Gate?
    /// Which of them was the first, and had not been let in yet.
    var newcomer: Int?
    /// What has sealed the sessions is not there any more.
    var hasLostItsKey = false

    init(of count: Int, _ timekeeper: any Timekeeper = SystemTimekeeper()) {
        (self.count, self.timekeeper) = (count, timekeeper)
    }

    func open(_ story: @escaping @Sendable (Accounts) async throws -> Void) async throws {
        let scratch = try Scratch()
        let settings = try HostSettings(
            flags: ["state": [scratch.file("state")]],
            environment: [:],
            isTerminal: false
        )
        let directory = try StateDirectory(settings.state)
        try await signIn(directory)
        let interior = try await Wiring.interior(
            settings,
            in: directory,
            .quiet(timekeeper),
            try .real(settings)
        )
        let accounts = try #require(interior.household as? Accounts)
        try await withThrowingDiscardingTaskGroup { [beginning] group in
            group.addTask {
                await beginning?.pass()
                await interior.run()
            }
            let result = await Result { try await story(accounts) }
            beginning?.open()
            await interior.close()
            await interior.conclude()
            group.cancelAll()
            try result.get()
        }
    }

    private func signIn(_ directory: StateDirectory) async throws {
        let (store, _) = try await Store.open(
            in: directory,
            time: SystemTimekeeper(),
            chance: SystemChance()
        )
        let key = try HostKey(at: directory.file("host.key"))
        for number in 1...count {
            let id = "00000000-0000-4000-8000-\(100_000_000_000 + number)"
            var record = AccountRecord(
                id: id,
                email: "\(number)@example.test",
                server: "http://127.0.0.1:9",
                number: number
            )
            let tokens = Tokens(
                userID: id,
                access: "token",
                expires: Moment(ticks: .max / 2),
                renewal: .none
            )
            record.sealedTokens = try key.seal(tokens)
            (record.isNewcomer, record.choice) = number == newcomer ? (true, 1) : (false, 0)
            try await store.put(record.stored)
        }
        try await store.close()
        if hasLostItsKey { try #require(unlink(directory.file("host.key")) == 0) }
    }
}
