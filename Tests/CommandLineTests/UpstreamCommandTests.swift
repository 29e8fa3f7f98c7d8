import Glibc
import HTTP
import JSON
import System
import TestSupport
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

    @Test func `a server that cannot start leaves no word of an earlier one`() async throws {
        let scratch = try Scratch()
        let ready = scratch.file("ready")
        try Files.deliver(Array(#"{"upstream":"127.0.0.1:1"}"#.utf8), to: ready)
        let outcome = await run(["upstream", "--data", "/dev/null/kept", "--ready-file", ready])
        #expect(outcome.status == .failure)
        #expect(throws: SystemError.self) { try Files.read(ready) }
    }

    @Test(arguments: ["commitLate", "goAway"])
    func `a server that is told to end does not wait for what is to happen in a minute`(
        _ effect: String
    ) throws {
        let scratch = try Scratch()
        let ready = scratch.file("ready")
        let running = try Running(
            Child.productsDirectory + "/holdfast",
            ["upstream", "--ready-file", ready]
        )
        let document = try JSON.Document(try ServeProgramTests.Host.arrival(of: ready)).root
        let port = document["upstream"]?.string?.split(separator: ":").last.flatMap { Int($0) }
        let server = try #require(port)
        let order = #"{"operation":"alive","effect":{"kind":"\#(effect)","seconds":60}}"#
        let host = ["Host: localhost:\(server)"]
        let ordered = try TextConnection("127.0.0.1", port: server)
            .ask("POST /_faults", host, body: order)
        #expect(ordered.status == 200)
        let line = try TextConnection("127.0.0.1", port: server)
        line.send("GET /api/alive HTTP/1.1\r\n\(host[0])\r\n\r\n")
        #expect(((try? line.read()) ?? "").isEmpty)
        let told = SystemTimekeeper().elapsed
        running.signal(SIGTERM)
        #expect(running.wait() == 0)
        #expect(SystemTimekeeper().elapsed - told < .seconds(30))
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
