import Testing

@testable import Sync

@Suite struct StumblesTests {
    private let stumbles = Stumbles()

    @Test func `each change's waits are counted for itself, from one on`() {
        stumbles.add("a")
        #expect(stumbles.countWait(of: "a") == 1)
        #expect(stumbles.countWait(of: "b") == 1)
        #expect(stumbles.countWait(of: "a") == 2)
        #expect(stumbles.changeIDs == ["a", "b"])
    }

    @Test func `one that fails again keeps its count`() {
        _ = stumbles.countWait(of: "a")
        stumbles.add("a")
        #expect(stumbles.countWait(of: "a") == 2)
    }

    @Test func `whether others were taken since is told for each, from one failure to the next`() {
        stumbles.noteTaken()
        for change in ["a", "b"] { stumbles.add(change) }
        #expect(!stumbles.sawAnythingTaken(since: "a"))
        stumbles.noteTaken()
        for change in ["a", "b"] { #expect(stumbles.sawAnythingTaken(since: change)) }
        #expect(!stumbles.sawAnythingTaken(since: "a") && !stumbles.sawAnythingTaken(since: "c"))
    }

    @Test func `what is pending no more is forgotten, and would begin anew`() {
        for change in ["a", "b"] { _ = stumbles.countWait(of: change) }
        stumbles.forgetAll(but: ["b", "c"])
        #expect(stumbles.changeIDs == ["b"])
        #expect(stumbles.countWait(of: "a") == 1)
        #expect(stumbles.countWait(of: "b") == 2)
    }
}
