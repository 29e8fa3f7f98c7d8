import Testing

@testable import Sync

struct RunCountTests {
    @Test(arguments: [(0, 16), (1, 16), (4, 16), (5, 12), (16, 4), (800, 4)])
    func `the more runs are under way, the less each tries side by side`(_ runs: Int, _ lanes: Int)
    {
        let count = RunCount()
        for _ in 0..<runs { count.begin() }
        #expect(count.lanes == lanes)
        for _ in 0..<runs { count.end() }
        #expect(count.lanes == 16)
    }
}
