import Testing
import Vault

@testable import Sync

/// A run that waits for its turn, because as many others as may be are under way.
@Suite struct StandingInLineTests {
    /// All turns are others'.
    private func playBehindOthers(
        _ body: @escaping @Sendable (Stage) async throws -> Void
    ) throws {
        try Stage.play { stage in
            try await stage.edit()
            let runs = stage.surroundings.runs
            for number in 0..<RunTurns.mostAtOnce {
                #expect(await runs.begin("other \(number)", isInsistent: false) == .counted)
            }
            try await stage.trigger(.unlocked)
            try await stage.pass(.seconds(60))
            #expect(try stage.live == 1)
            try await body(stage)
        }
    }

    @Test func `who asks for a sync is served all the same`() throws {
        try playBehindOthers { stage in
            _ = try await stage.sync()
            #expect(try stage.live == 0)
        }
    }

    @Test func `it begins when another ends`() throws {
        try playBehindOthers { stage in
            stage.surroundings.runs.end(.counted)
            try await stage.pass(.seconds(60))
            #expect(try stage.live == 0)
        }
    }

    @Test func `it ends with its scheduler, and nothing is begun`() throws {
        try playBehindOthers { stage in
            stage.scheduler.close()
            try await stage.pass(.seconds(60))
            #expect(stage.scheduler.isIdle)
            #expect(try stage.live == 1)
        }
    }

    @Test func `one that has waited for too long goes past the others, and is no standstill`()
        throws
    {
        try playBehindOthers { stage in
            try await stage.pass(Vigil.patience + .seconds(60))
            #expect(try stage.live == 0)
            #expect(await stage.figure("holdfast_sync_standstills_total") == 0)
        }
    }
}
