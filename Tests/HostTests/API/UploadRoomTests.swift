import Testing

@testable import Host

@Suite struct UploadRoomTests {
    private struct Interrupted: Error {}

    @Test
    func `who sends more than there is room for is to come again, and all of it is given back`()
        async throws
    {
        let room = UploadRoom(bytes: 100)
        for _ in 0..<3 {
            try await room.holding(60) {
                try await room.holding(40) {
                    await Self.expectBusy { try await room.holding(1) {} }
                    try await room.holding(0) {}
                }
                await Self.expectBusy { try await room.holding(41) {} }
                await #expect(throws: Interrupted.self) {
                    try await room.holding(40) { throw Interrupted() }
                }
            }
        }
        try await room.holding(100) {}
    }

    private static func expectBusy(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("There was room.")
        } catch {
            guard case DeskRefusal.busy = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
