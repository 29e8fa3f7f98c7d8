import TestSupport
import Testing

struct SimulateCommandTests {
    @Test(arguments: [
        ["--replay", "1", "--seeds", "3"], ["--replay", "1", "--start", "3"],
        ["--deaths", "1", "--steps", "3"], ["--deaths", "1", "--faults", "none"],
        ["--corpus", "worlds", "--seeds", "3"], ["--corpus", "worlds", "--start", "3"],
        ["--corpus", "worlds", "--steps", "3"], ["--corpus", "worlds", "--faults", "none"],
        ["--corpus", "worlds", "--profile", "bitwarden"],
    ])
    func `a flag that would say nothing is refused`(_ words: [String]) throws {
        let child = try Child.run(Child.productsDirectory + "/holdfast", ["simulate"] + words)
        #expect(child.status == 64)
        #expect(child.complaint == "holdfast: \(words[2]) says nothing to \(words[0]).\n")
    }
}
