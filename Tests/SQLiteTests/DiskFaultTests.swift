import Glibc
import System
import TestSupport
import Testing

@testable import SQLite

/// A disk that is full or reports errors, at every single call.
struct DiskFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let error: Int32
        /// nil: until the disk is healed.
        let times: Int?

        var testDescription: String {
            "\(error == ENOSPC ? "full" : "I/O error") \(times.map { "\($0) times" } ?? "for good")"
        }

        static let all = [ENOSPC, EIO].flatMap {
            [Fault(error: $0, times: 1), Fault(error: $0, times: nil)]
        }
    }

    @Test(arguments: Fault.all)
    func `a fault at any call is told and leaves nothing half written`(_ fault: Fault) throws {
        let calls = try workload(on: FaultyDisk(seed: 1), Fault(error: 0, times: 0), at: 1).calls
        #expect(calls > 30)
        for call in 1...calls {
            let disk = FaultyDisk(seed: UInt64(call))
            let outcome = try workload(on: disk, fault, at: call)
            let story = "\(fault.testDescription) at call \(call)"
            #expect(disk.failures > 0, "\(story): it never struck")
            #expect(outcome.isUsableAgain != false, "\(story): nothing is taken any more")
            for error in outcome.errors {
                #expect([.diskFull, .inputOutput].contains(error.trouble), "\(story): \(error)")
            }
            try check(disk, outcome, story)
        }
    }

    private struct Outcome: Sendable {
        var confirmed: Set<Int> = []
        var refused: Set<Int> = []
        var errors: [DatabaseError] = []
        var calls = 0
        /// nil: it was never opened.
        var isUsableAgain: Bool?
    }

    /// Opens, writes, checkpoints, closes; meets the fault on the way; then the disk is healed and
    /// one more edit is tried on the same database.
    private func workload(on disk: FaultyDisk, _ fault: Fault, at call: Int) throws -> Outcome {
        let executor = SeededExecutor(seed: 3)
        let configuration = Configuration(on: disk, executor)
        if fault.error == 0 { disk.count(.changing) }
        if fault.error != 0 {
            disk.fail(.changing, at: call, times: fault.times, error: fault.error)
        }
        let outcome = executor.run {
            var outcome = Outcome()
            do throws(DatabaseError) {
                let shelf = try await Shelf(at: "shelf.db", configuration)
                outcome.isUsableAgain = false
                for id in 1...8 {
                    do throws(DatabaseError) {
                        try await shelf.addTwo(id)
                        outcome.confirmed.insert(id)
                    } catch {
                        outcome.errors.append(error)
                        if !error.isOutcomeUnknown { outcome.refused.insert(id) }
                    }
                }
                outcome.calls = disk.calls
                disk.heal()
                try await shelf.addTwo(9)
                outcome.confirmed.insert(9)
                outcome.isUsableAgain = true
                try await shelf.close()
            } catch {
                outcome.errors.append(error)
            }
            disk.heal()
            return outcome
        }
        return try #require(outcome)
    }

    /// Looks twice: as it is, and as a power cut would leave it.
    private func check(_ disk: FaultyDisk, _ outcome: Outcome, _ story: String) throws {
        for isCut in [false, true] {
            if isCut {
                disk.cut()
                disk.powerOn()
            }
            let ids = Set(try Shelf.ids(on: disk))
            let lost = outcome.confirmed.subtracting(ids)
            #expect(lost.isEmpty, "\(story): lost \(lost.sorted()), cut \(isCut)")
            let back = outcome.refused.intersection(ids)
            #expect(back.isEmpty, "\(story): came back \(back.sorted()), cut \(isCut)")
            let halves = ids.filter { !ids.contains($0 > 1000 ? $0 - 1000 : $0 + 1000) }
            #expect(halves.isEmpty, "\(story): half written \(halves.sorted()), cut \(isCut)")
        }
    }

    @Test func `after a full disk the same database goes on`() throws {
        let disk = FaultyDisk(seed: 1)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.fail(.write, at: 1, error: ENOSPC)
            let error = await #expect(throws: DatabaseError.self) { try await shelf.add(2) }
            #expect(error?.code == .full)
            #expect(error?.trouble == .diskFull)
            #expect(try shelf.ids() == [1])
            disk.heal()
            try await shelf.add(3)
            #expect(try shelf.ids() == [1, 3])
            try await shelf.close()
        }
    }

    @Test func `all who share a commit that fails are told`() throws {
        let disk = FaultyDisk(seed: 1)
        try Shelf.live(on: disk) { shelf in
            disk.fail(.sync, at: 1, error: EIO)
            let codes = await withTaskGroup(of: ResultCode?.self) { group in
                for id in 1...16 {
                    group.addTask {
                        do throws(DatabaseError) {
                            try await shelf.add(id)
                            return nil
                        } catch {
                            return error.code?.primary
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == Array(repeating: .inputOutput, count: 16))
            #expect(try shelf.ids().isEmpty)
            disk.heal()
            try await shelf.close()
        }
    }
}
