import Glibc
import SlowNames
import System
import Testing

@testable import HTTP

/// Names that are looked up for a long time.
@Suite(.serialized) struct ClientNamesTests {
    /// A look-up cannot be stopped. Who waits for it to end when nobody wants it any more makes all
    /// other requests wait.
    @Test(.timeLimit(.minutes(1)))
    func `a look-up that hangs holds nobody, when it is given up or out of time`() async throws {
        try await withClient { connection in
            while connection.request() != nil { connection.respond() }
        } _: { client, server in
            let guardian = Thread.start(name: "guardian") {
                for _ in 0..<1_000 where slow_names_hanging() >= 0 && !isOver.withLock(\.self) {
                    poll(nil, 0, 10)
                }
                slow_names_let_go()
            }
            var slow = Client.Request(.get, "http://slow.test/")
            slow.deadlines = Client.Deadlines()
            slow.deadlines?.connect = .milliseconds(300)
            await withTaskGroup { hasty in
                hasty.addTask { [slow] in _ = try? await client.send(slow) }
                while slow_names_hanging() < 1 { await Task.yield() }
                hasty.cancelAll()
            }
            let error = await failure { () throws(ClientError) in try await client.send(slow) }
            #expect(error?.reason == .timedOut(.connect))
            let answer = try await client.send(Client.Request(.get, server.url))
            #expect(answer.status == .ok)
            #expect(slow_names_hanging() == 2, "The look-ups go on, and nobody waited for them.")
            isOver.withLock { $0 = true }
            guardian.join()
            while slow_names_hanging() > 0 { await Task.yield() }
        }
    }
}

/// When the test is over; or else, after ten seconds, the look-ups are let go all the same.
private let isOver = Lock(false)
