import System
import TestSupport
import Testing

@testable import SQLite

/// A log of which the disk has changed what it had kept.
@Suite struct DamagedLogTests {
    /// The files of a shelf with these commits in its log, as a killed process leaves them.
    private static func files() async throws -> (database: [UInt8], log: [UInt8]) {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        for id in 1...5 { try await shelf.add(id) }
        let database = try Files.read(scratch.file("shelf.db"))
        return (database, try Files.read(scratch.file("shelf.db-wal")))
    }

    private static let frame = 24 + 4_096

    private static func start(of frame: Int) -> Int { 32 + frame * Self.frame }

    private static func frames(of log: [UInt8]) -> Int { (log.count - 32) / frame }

    private static func isDamaged(_ log: [UInt8]) -> Bool {
        LogCheck.saltOfDamaged(log, pageSize: 4_096) != nil
    }

    @Test func `a flipped bit with two commits behind it is found, wherever it is`() async throws {
        let (_, log) = try await Self.files()
        #expect(!Self.isDamaged(log))
        #expect(Self.frames(of: log) >= 6)
        let places = [
            8, 25, Self.start(of: 0) + 5, Self.start(of: 0) + 20, Self.start(of: 0) + 200,
        ]
        for place in places + [Self.start(of: Self.frames(of: log) - 3) + 300] {
            var flipped = log
            flipped[place] ^= 1
            #expect(Self.isDamaged(flipped), "\(place)")
        }
    }

    @Test func `a log whose header is damaged hides none of its commits`() async throws {
        let (_, log) = try await Self.files()
        for place in [3, 7, 10, 14, 16, 18, 23, 26, 31] {
            for bit in [1, 4] as [UInt8] {
                var flipped = log
                flipped[place] ^= bit
                #expect(Self.isDamaged(flipped), "\(place), \(bit)")
            }
        }
        for length in [32, 512, 4_096, Self.start(of: 1)] {
            let zeroed = [UInt8](repeating: 0, count: length) + log[length...]
            #expect(Self.isDamaged(zeroed), "\(length)")
        }
    }

    @Test func `a log with nothing in it is no damage, and neither is one that began anew`()
        async throws
    {
        #expect(!Self.isDamaged([UInt8](repeating: 0, count: Self.start(of: 3))))
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        for id in 1...5 { try await shelf.add(id) }
        let session = try Session(Place(path: shelf.path, vfs: nil), .write, statements: 4)
        // What was in the log stays there behind what comes now.
        #expect(session.moveLog(.restart, patience: .seconds(1)) == nil)
        #expect(!Self.isDamaged(try Files.read(shelf.path + "-wal")))
        try session.control("INSERT INTO book (id, title) VALUES (6, 'Emma')", "add")
        let log = try Files.read(shelf.path + "-wal")
        #expect(Self.frames(of: log) >= 5 && !Self.isDamaged(log))
    }

    @Test func `what a power cut leaves of one commit is no damage`() async throws {
        let (_, log) = try await Self.files()
        let last = Self.start(of: Self.frames(of: log) - 1)
        for place in [last + 3, last + 20, last + 200] {
            var torn = log
            torn[place] ^= 1
            #expect(!Self.isDamaged(torn), "\(place)")
        }
        for length in [0, 10, 32, 33, last, last + 30, log.count - 1] {
            #expect(!Self.isDamaged(Array(log.prefix(length))), "\(length)")
        }
    }

    @Test func `what is left of a commit that another took the place of is no damage`() async throws
    {
        // Frames of the same log that do not follow from one another, each the end of a commit.
        let (_, log) = try await Self.files()
        let count = Self.frames(of: log)
        let frames = (0..<count).map { log[Self.start(of: $0)..<Self.start(of: $0 + 1)] }
        let mixed = frames[..<3] + frames[3...].reversed()
        #expect(!Self.isDamaged(log[..<32] + mixed.flatMap(\.self)))
    }

    @Test(arguments: [false, true])
    func `a damaged log is set aside as it was before it is emptied, unless it is left alone`(
        _ isLeftAlone: Bool
    ) async throws {
        let scratch = try Scratch()
        var (database, log) = try await Self.files()
        log[Self.start(of: 0) + 200] ^= 1
        try Files.replace(scratch.file("shelf.db"), with: database)
        try Files.replace(scratch.file("shelf.db-wal"), with: log)
        var configuration = Configuration()
        configuration.isLogLeftAlone = isLeftAlone
        configuration.isMigratedAtOpen = !isLeftAlone
        let shelf = try await Shelf(scratch, configuration)
        let path = try #require(await shelf.database.damagedLog)
        #expect((path == scratch.file("shelf.db-wal")) == isLeftAlone)
        try await shelf.close()
        #expect(try Files.read(path) == log)
        if !isLeftAlone { #expect(path.contains("/shelf.db.damaged-log-")) }
        // One that has been emptied is sound.
        if !isLeftAlone { #expect(try await Shelf(scratch).database.damagedLog == nil) }
    }
}
