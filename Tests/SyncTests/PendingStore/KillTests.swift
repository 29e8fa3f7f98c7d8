import CrashStory
import Glibc
import System
import TestSupport
import Testing

@testable import Sync

/// A real process with a real file, killed without warning while it writes.
@Suite struct KillTests {
    private static let seed: UInt64 = 77
    private static let writers = 8
    private static let rounds =
        getenv("HOLDFAST_KILL_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 20

    @Test
    func `T-09, T-71 what was acknowledged outlives the process, the rest is whole or absent`()
        async throws
    {
        let scratch = try Scratch()
        let chance = SeededChance(seed: Self.seed)
        for round in 0..<Self.rounds {
            let acknowledged = try Self.killWriter(
                in: scratch.path,
                round: round,
                after: chance.number(in: 1..<400)
            )
            let shelf = try await Shelf(scratch)
            for writer in 0..<Self.writers {
                let user = "\(round)-\(writer)"
                let step = acknowledged[user] ?? -1
                let loss = try Story.loss(acknowledged: step, of: user, in: shelf.store)
                #expect(loss == nil, "seed \(Self.seed), round \(round)")
            }
            try await shelf.store.close()
        }
    }

    /// - Returns: The last step that each writer was told is safe.
    private static func killWriter(
        in directory: String,
        round: Int,
        after lines: Int
    ) throws -> [String: Int] {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        let program = Child.productsDirectory + "/store-writer"
        let words = [program, directory, "\(round)", "\(writers)"]
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        try #require(posix_spawn(&child, program, &actions, nil, &arguments, environ) == 0)
        close(ends[1])
        defer { close(ends[0]) }
        return kill(child, after: lines, reading: ends[0])
    }

    private static func kill(
        _ child: pid_t,
        after count: Int,
        reading descriptor: Int32
    ) -> [String: Int] {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        var isKilled = false
        while true {
            let length = read(descriptor, &chunk, chunk.count)
            if length <= 0 { break }
            text += chunk[..<length]
            if !isKilled, text.count(where: { $0 == UInt8(ascii: "\n") }) >= count {
                Glibc.kill(child, SIGKILL)
                isKilled = true
            }
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        #expect(isKilled, "The writer ended by itself, status \(status).")
        return lastSteps(in: String(decoding: text, as: UTF8.self))
    }

    private static func lastSteps(in text: String) -> [String: Int] {
        var steps: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let step = Int(words[1]) else { continue }
            steps[String(words[0])] = step
        }
        return steps
    }
}
