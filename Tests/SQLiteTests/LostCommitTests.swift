import Glibc
import TestSupport
import Testing

@testable import SQLite

/// A commit whose flush failed may be on the disk all the same. Nobody is told a thing that the next
/// start belies.
struct LostCommitTests {
    @Test(arguments: 1...60)
    func `what was told as failed is not there after a power cut`(_ seed: UInt64) throws {
        let disk = FaultyDisk(seed: seed)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.fail(.sync, at: 1, times: 1, error: EIO)
            #expect(await shelf.outcome(of: 2) == .refused)
            disk.cut()
        }
        disk.powerOn()
        #expect(try Shelf.ids(on: disk) == [1], "seed \(seed)")
    }

    @Test(arguments: 1...60)
    func `what cannot be overwritten is told as unknown, and nothing is added to it`(
        _ seed: UInt64
    ) throws {
        let disk = FaultyDisk(seed: seed)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.fail(.sync, at: 1, error: EIO)
            #expect(await shelf.outcome(of: 2) == .unknown)
            #expect(await shelf.outcome(of: 3) == .refused)
            #expect(try shelf.ids() == [1])
            disk.cut()
        }
        disk.powerOn()
        #expect(try [[1], [1, 2]].contains(Shelf.ids(on: disk)), "seed \(seed)")
    }

    @Test(arguments: 1...60)
    func `once the disk is well again, what was unknown is gone for good`(_ seed: UInt64) throws {
        let disk = FaultyDisk(seed: seed)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.fail(.sync, at: 1, error: EIO)
            #expect(await shelf.outcome(of: 2) == .unknown)
            disk.heal()
            try await shelf.add(3)
            disk.cut()
        }
        disk.powerOn()
        #expect(try Shelf.ids(on: disk) == [1, 3], "seed \(seed)")
    }

    @Test(arguments: 1...60)
    func `a log that the system shows and the disk does not have is built upon by nobody`(
        _ seed: UInt64
    ) throws {
        let disk = FaultyDisk(seed: seed)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.fail(.sync, at: 1, error: EIO)
            #expect(await shelf.outcome(of: 2) == .unknown)
            disk.kill()
        }
        disk.heal()
        let found = try Shelf.live(on: disk) { shelf in
            try await shelf.add(3)
            disk.cut()
            return try? shelf.ids()
        }
        disk.powerOn()
        #expect(try Shelf.ids(on: disk).contains(3), "seed \(seed), \(String(describing: found))")
    }

    @Test func `a log that cannot be moved at the start is read, and takes no edit`() throws {
        let disk = FaultyDisk(seed: 1)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.kill()
        }
        disk.fail(.sync, at: 1, error: EIO)
        try Shelf.live(on: disk) { shelf in
            #expect(try shelf.ids() == [1])
            #expect(await shelf.outcome(of: 2) == .refused)
            disk.heal()
            try await shelf.add(3)
            #expect(try shelf.ids() == [1, 3])
            try await shelf.close()
        }
    }

    @Test func `a full disk is told as what it is, for it refuses the commit whole`() throws {
        let disk = FaultyDisk(seed: 1)
        try Shelf.live(on: disk) { shelf in
            try await shelf.add(1)
            disk.fail(.write, at: 1, error: ENOSPC)
            #expect(await shelf.outcome(of: 2) == .refused)
            disk.cut()
        }
        disk.powerOn()
        #expect(try Shelf.ids(on: disk) == [1])
    }

    @Test func `the error that is unknown says so`() throws {
        let disk = FaultyDisk(seed: 1)
        try Shelf.live(on: disk) { shelf in
            disk.fail(.sync, at: 1, error: EIO)
            let error = await #expect(throws: DatabaseError.self) { try await shelf.add(1) }
            #expect(error?.isOutcomeUnknown == true)
            #expect(error?.code?.primary == .inputOutput)
            #expect(error?.trouble == .inputOutput)
            #expect(error?.description.contains("shows at the next start") == true)
            disk.heal()
            try await shelf.close()
        }
    }
}
