import Testing

@testable import System

@Suite(.serialized) struct MemoryTests {
    /// In bytes, as the kernel counts them.
    private func resident(_ kind: String) throws -> Int {
        let text = String(decoding: try Files.read("/proc/self/status"), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(kind) })
        return 1_024 * (line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0)
    }

    @Test func `what the process has had of the processors grows with what it does`() {
        let before = Processor.timeSpent
        var sum: UInt64 = 0
        while Processor.timeSpent - before < .milliseconds(20) { sum &+= 1 }
        #expect(sum > 0)
        #expect(Processor.timeSpent - before >= .milliseconds(20))
    }

    /// Where a sanitizer has put its own allocator into place, nothing is known of what is in use.
    @Test(.enabled(if: Memory.used > 0))
    func `what was let go of is given back, and only once`() throws {
        var tidying = Memory.Tidying(beyond: 4 << 20)
        tidying.tidy()
        var blocks = (0..<20_000).map { [UInt8](repeating: UInt8($0 & 255), count: 1_000) }
        // Above all of them, or the allocator would give them back by itself.
        let lid = [UInt8](repeating: 1, count: 1_000)
        let most = try resident("RssAnon")
        let inUse = tidying.tidy()
        #expect(!inUse && blocks.count == 20_000)
        blocks = []
        let (first, second) = (tidying.tidy(), tidying.tidy())
        #expect(first && !second)
        #expect(try resident("RssAnon") < most - (15 << 20))
        withExtendedLifetime(lid) {}
    }

    /// It is the same memory each time, and nobody has looked in between.
    @Test(.enabled(if: Memory.used > 0))
    func `what was given back and used again is given back again`() throws {
        var tidying = Memory.Tidying(beyond: 4 << 20)
        var lids: [[UInt8]] = []
        for _ in 0..<3 {
            var blocks = (0..<20_000).map { [UInt8](repeating: UInt8($0 & 255), count: 1_000) }
            lids.append([UInt8](repeating: 1, count: 1_000))
            let most = try resident("RssAnon")
            #expect(blocks.count == 20_000)
            blocks = []
            let isGivenBack = tidying.tidy()
            #expect(isGivenBack)
            #expect(try resident("RssAnon") < most - (15 << 20))
        }
        withExtendedLifetime(lids) {}
    }
}
