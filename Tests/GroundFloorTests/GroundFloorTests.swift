import TestSupport
import Testing

/// All rooms of the ground floor together, in a process of their own.
struct GroundFloorTests {
    @Test func `what a note book acknowledged over HTTP is on the disk`() throws {
        let child = try Child.run(Child.productsDirectory + "/ground-floor", ["10"])
        #expect(child.status == 0, "\(child.output)\(child.complaint)")
        #expect(child.output.contains("640 notes were acknowledged"))
        #expect(child.output.contains("every note, once, as it was written"))
        #expect(
            child.output.contains(#"holdfast_channel_messages_total{channel="note-store"} 640"#)
        )
    }

    @Test(arguments: ["many", "0", "-1"])
    func `what is no number of notes is refused`(_ word: String) throws {
        let child = try Child.run(Child.productsDirectory + "/ground-floor", [word])
        #expect(child.status == 64)
        #expect(child.output.contains(word))
    }
}
