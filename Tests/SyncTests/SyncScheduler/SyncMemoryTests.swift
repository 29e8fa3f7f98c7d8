import Testing
import Vault

@testable import Sync

/// What is known of syncs after a restart.
@Suite struct SyncMemoryTests {
    private static func moment(_ second: Int64) -> Moment { Moment(ticks: second * 10_000_000 + 7) }

    /// One that knows everything there is to know.
    private static let whole = SyncMemory(
        lastSync: moment(1),
        lastReport: SyncReport(.deferred, reason: "1 change is pending.", ended: moment(2)),
        lastFetch: moment(3),
        accountRevision: -4,
        base: RefreshMark(written: 5),
        doubt: SyncDoubt(
            kind: .regression,
            fingerprint: .max,
            accountRevision: 6,
            missing: ["one", "two"],
            fallen: ["three"],
            since: moment(7)
        ),
        switches: Switches(offlineChanges: false, resolution: true),
        hold: moment(8),
        retry: moment(9),
        wait: .milliseconds(10),
        failures: 11
    )

    private static let parts: [@Sendable (SyncMemory) -> AnyHashable?] = [
        { $0.lastSync }, { $0.lastReport.map { "\($0)" } }, { $0.lastFetch },
        { $0.accountRevision },
        { $0.base },
        { $0.doubt }, { $0.switches }, { $0.hold }, { $0.retry }, { $0.wait }, { $0.failures },
    ]

    @Test func `all of it comes back`() {
        #expect(SyncMemory(text: Self.whole.text) == Self.whole)
        #expect(SyncMemory(text: SyncMemory().text) == SyncMemory())
        #expect(SyncMemory().text.isEmpty)
    }

    @Test func `what is said in several lines is kept in one`() {
        var memory = SyncMemory()
        let reason = "One.\nhold 5\r\nTwo."
        memory.lastReport = SyncReport(.failed, reason: reason, ended: Self.moment(1))
        let read = SyncMemory(text: memory.text)
        #expect(read.lastReport?.reason == "One. hold 5 Two.")
        #expect(read.hold == nil)
    }

    @Test(arguments: ["", "\n\n", "lastSync", "lastSync yesterday", "lastSync 1e9", "garbage 5"])
    func `what cannot be read is not known`(_ text: String) {
        #expect(SyncMemory(text: text) == SyncMemory())
    }

    /// A line that is gone takes along only what it belongs to.
    @Test func `each line is read by itself`() {
        let lines = Self.whole.text.split(separator: "\n")
        for index in lines.indices {
            var fewer = lines
            fewer.remove(at: index)
            let read = SyncMemory(text: fewer.joined(separator: "\n"))
            #expect(read != Self.whole, "\(lines[index])")
            let known = Self.parts.count { $0(read) == $0(Self.whole) }
            #expect(known == Self.parts.count - 1, "\(lines[index])")
        }
    }
}
