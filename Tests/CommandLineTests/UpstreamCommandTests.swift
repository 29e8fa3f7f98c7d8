import HTTP
import System
import Testing

@testable import holdfast

struct UpstreamCommandTests {
    private func run(_ words: [String]) async -> (status: holdfast.ExitStatus, complaint: String) {
        let complaint = Complaint()
        let console = Console(answer: { _ in }, complain: { complaint.take($0) })
        let program = Holdfast(commands: Holdfast.commands, console: console)
        return (await program.run(words), complaint.text)
    }

    @Test(arguments: [
        ["--profile", "x"], ["--listen", "nonsense"], ["--listen", "127.0.0.1:70000"],
        ["--listen", "::1:80"], ["--listen", "[127.0.0.1]:80"], ["--listen", "foo:0"],
        ["--listen", ":80"], ["--listen", "[localhost]:80"], ["--nonsense"], ["operand"],
    ])
    func `what makes no sense is refused in one line`(_ words: [String]) async {
        let outcome = await run(["upstream"] + words)
        #expect(outcome.status == .usage)
        #expect(outcome.complaint.split(separator: "\n").count == 1)
    }

    @Test func `a directory that cannot be made is a failure with its name`() async {
        let outcome = await run(["upstream", "--data", "/dev/null/kept"])
        #expect(outcome.status == .failure)
        #expect(outcome.complaint.contains("/dev/null"))
    }

    @Test(arguments: [
        ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:8087", "::1", 8087),
        ("localhost:1", "127.0.0.1", 1),
    ])
    func `addresses are read`(_ text: String, _ host: String, _ port: Int) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
    }
}

private final class Complaint: Sendable {
    private let lock = Lock("")
    var text: String { lock.withLock { $0 } }
    func take(_ text: String) { lock.withLock { $0 = text } }
}
