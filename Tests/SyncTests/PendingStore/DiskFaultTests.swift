import CrashStory
import FoundationEssentials
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// A reference workload on a disk in memory: it opens the store, and some writers tell their story.
struct Workload {
    static let writers = 2
    static let steps = Story.steps

    let disk: FaultyDisk

    /// - Returns: The last step that each writer was told is safe; -1 for none.
    func run(round: Int = 0) async -> [Int] {
        guard let shelf = try? await Shelf(on: disk) else {
            return Array(repeating: -1, count: Self.writers)
        }
        let acknowledged = await withTaskGroup(of: (Int, Int).self) { group in
            for writer in 0..<Self.writers {
                group.addTask { (writer, await write(writer, round, shelf.store)) }
            }
            return await group.reduce(into: Array(repeating: -1, count: Self.writers)) {
                $0[$1.0] = $1.1
            }
        }
        try? await shelf.store.close()
        return acknowledged
    }

    private func write(_ writer: Int, _ round: Int, _ store: Store) async -> Int {
        var story = Story(of: "\(round)-\(writer)")
        for step in 0..<Self.steps {
            do {
                try await story.tell(step, in: store)
            } catch {
                return step - 1
            }
        }
        return Self.steps - 1
    }

    /// What is missing of what was acknowledged, after the trouble is over.
    func losses(of acknowledged: [Int], round: Int = 0) async throws -> [String] {
        let shelf = try await Shelf(on: disk)
        var losses: [String] = []
        for (writer, step) in acknowledged.enumerated() {
            let user = "\(round)-\(writer)"
            let loss = try Story.loss(acknowledged: step, of: user, in: shelf.store)
            if let loss { losses.append(loss) }
        }
        let findings = try await shelf.store.database.integrityCheck()
        try await shelf.store.close()
        return losses + findings
    }
}

@Suite struct DiskFaultTests {
    private static let cuts =
        getenv("HOLDFAST_POWER_CUTS").flatMap { Int(String(cString: $0)) } ?? 320

    private static func calls(_ kinds: FaultyDisk.Calls) async -> Int {
        let disk = FaultyDisk(seed: 1)
        disk.count(kinds)
        _ = await Workload(disk: disk).run()
        return disk.calls
    }

    @Test func `no step of the story could be lost without being missed`() {
        #expect(Story.tellsEveryLoss)
    }

    @Test func `a power cut at any moment loses nothing that was acknowledged`() async throws {
        let moments = await Self.calls(.changing)
        #expect(moments > 50)
        try await Trials.run(1...Self.cuts) { cut in
            let disk = FaultyDisk(seed: UInt64(cut))
            let workload = Workload(disk: disk)
            // Over the whole story, however few they are.
            disk.cut(at: 1 + (cut - 1) * moments / Self.cuts)
            let acknowledged = await workload.run()
            if !disk.isCut { disk.cut() }
            disk.powerOn()
            let losses = try await workload.losses(of: acknowledged)
            #expect(losses.isEmpty, "cut \(cut) of \(moments) moments: \(losses)")
        }
    }

    @Test(arguments: [("full", ENOSPC), ("failing", EIO)])
    func `a disk that is full or fails once, at any moment, loses nothing acknowledged`(
        _ name: String,
        _ code: Int32
    ) async throws {
        let moments = await Self.calls(.changing)
        try await Trials.run(1...moments) { moment in
            let disk = FaultyDisk(seed: UInt64(moment))
            let workload = Workload(disk: disk)
            disk.fail(.changing, at: moment, times: moment % 2 == 0 ? 1 : nil, error: code)
            let acknowledged = await workload.run()
            disk.heal()
            let losses = try await workload.losses(of: acknowledged)
            #expect(losses.isEmpty, "\(name) at \(moment) of \(moments): \(losses)")
        }
    }

    @Test func `a full disk ends acceptance, reads go on, and a probe that is kept resumes it`()
        async throws
    {
        let disk = FaultyDisk(seed: 5)
        let time = SteppedTime()
        let shelf = try await Shelf(on: disk, time: time)
        try await shelf.add("kept")
        disk.fail([.write, .sync], at: 1, error: ENOSPC)
        await #expect(throws: StoreError.self) { try await shelf.add("lost") }
        #expect(!shelf.store.isAccepting)
        #expect(try shelf.changes().map(\.cipherID) == ["kept"])
        let answer = await refusal { try await shelf.add("lost") }
        guard case .notAccepting(let cause) = answer else {
            Issue.record("\(String(describing: answer))")
            return
        }
        #expect(cause.trouble == .diskFull)
        #expect("\(StoreError.notAccepting(since: cause))".contains("free some space"))
        await #expect(throws: StoreError.self) { try await shelf.store.probe() }
        #expect(!shelf.store.isAccepting)

        disk.heal()
        guard case .notAccepting = await refusal({ try await shelf.add("lost") }) else {
            Issue.record("It was probed again at once.")
            return
        }
        time.step(.seconds(1))
        try await shelf.add("later")
        #expect(shelf.store.isAccepting)
        #expect(try shelf.changes().map(\.cipherID) == ["kept", "later"])
        try await shelf.store.close()
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func `a commit that a full disk may have taken all the same is not told as refused`(
        _ code: Int32
    ) async throws {
        let disk = FaultyDisk(seed: 8)
        let shelf = try await Shelf(on: disk)
        disk.fail(.sync, at: 1, error: code)
        let answer = await refusal { try await shelf.add("unknown") }
        guard case .database(let cause) = answer else {
            Issue.record("\(String(describing: answer))")
            return
        }
        #expect(cause.trouble == .diskFull && cause.isOutcomeUnknown)
        #expect(answer?.isForWantOfRoom == false)
        let next = await refusal { try await shelf.add("refused") }
        #expect(next?.isForWantOfRoom == true, "\(String(describing: next))")
        disk.heal()
        try await shelf.store.close()
    }

    @Test func `what is opened on a full disk is read, and edited once there is room`()
        async throws
    {
        let disk = FaultyDisk(seed: 7)
        let first = try await Shelf(on: disk)
        try await first.add("kept")
        try await first.byHand("UPDATE pending_change SET state = 'inFlight', due_ticks = NULL")
        disk.cut()
        disk.powerOn()
        disk.fail([.write, .sync], at: 1, error: ENOSPC)
        let store = try await Shelf.open(on: disk)
        func states() throws -> [PendingChange.State] {
            try store.reader.changes(of: Shelf.user).map(\.summary.state)
        }
        #expect(!store.isAccepting)
        #expect(try states() == [.inFlight])
        guard case .database(let cause) = await refusal({ try await store.probe() }) else {
            Issue.record("A full disk took a probe.")
            return
        }
        #expect(cause.trouble == .diskFull)
        disk.heal()
        try await store.probe()
        #expect(store.isAccepting)
        #expect(try states() == [.ready])
        try await store.close()
    }

    @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
    func `an edit for which there is no room is refused as that, however the system says it`(
        _ code: Int32
    ) async throws {
        let disk = FaultyDisk(seed: 9)
        let shelf = try await Shelf(on: disk)
        try await shelf.add("kept")
        disk.fail(.write, at: 1, error: code)
        for _ in 1...2 {
            let answer = await refusal { try await shelf.add("refused") }
            #expect(answer?.isForWantOfRoom == true, "\(String(describing: answer))")
        }
        #expect(try shelf.changes().map(\.cipherID) == ["kept"])
        disk.heal()
        try await shelf.store.probe()
        try await shelf.add("later")
        #expect(try shelf.changes().map(\.cipherID) == ["kept", "later"])
        try await shelf.store.close()
    }

    @Test(
        arguments: [
            (ENOSPC, Trouble.diskFull), (EFBIG, .sizeLimit), (EIO, .inputOutput),
            (EROFS, .readOnly),
        ]
    )
    func `what a disk refuses is named, with what can be done about it`(
        _ code: Int32,
        _ trouble: Trouble
    ) async throws {
        let disk = FaultyDisk(seed: 6)
        let shelf = try await Shelf(on: disk)
        try await shelf.add("kept")
        disk.fail([.write, .sync], at: 1, error: code)
        let answer = await refusal { try await shelf.add("lost") }
        guard case .database(let cause) = answer else {
            Issue.record("\(String(describing: answer))")
            return
        }
        #expect(cause.trouble == trouble && "\(cause)".contains(trouble.hint))
        #expect(!shelf.store.isAccepting)
        #expect(try shelf.changes().map(\.cipherID) == ["kept"])
        disk.heal()
        try await shelf.store.probe()
        try await shelf.add("later")
        #expect(try shelf.changes().map(\.cipherID) == ["kept", "later"])
        try await shelf.store.close()
    }

    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? StoreError
        }
    }
}

/// A clock that moves when the test says so.
final class SteppedTime: Timekeeper {
    private let passed = Lock(Duration.seconds(100))

    var now: Date { Date(timeIntervalSince1970: elapsed / .seconds(1)) }
    var elapsed: Duration { passed.withLock { $0 } }

    func sleep(for duration: Duration) async throws(CancellationError) { step(duration) }

    func step(_ duration: Duration) { passed.withLock { $0 += duration } }
}
