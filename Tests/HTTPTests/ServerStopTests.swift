import System
import Testing

@testable import HTTP

@Suite struct ServerStopTests {
    private static let address = Listener.Place.tcp(SocketAddress(host: "127.0.0.1", port: 0))
    private static let ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    private func start(
        _ timekeeper: any Timekeeper = SystemTimekeeper(),
        _ handler: @escaping Handler
    ) throws -> Server {
        try Server.start(
            [Listener(name: "test", Self.address)],
            timekeeper: timekeeper,
            handler: handler
        )
    }

    @Test func `what is under way is finished, and nobody is let in`() async throws {
        let (begun, gate) = (Signals(), Signals())
        let server = try start { _ in
            begun.happen()
            await gate.happened()
            return .text("finished")
        }
        let (busy, idle) = (try server.client(), try server.client())
        try busy.send(Self.ask)
        await begun.happened()
        async let report = server.stop(within: .seconds(60))
        #expect(idle.isClosed)
        #expect(throws: (any Error).self) { try server.ask(Self.ask) }
        gate.happen()
        let answer = try busy.answer()
        #expect(answer.text == "finished")
        #expect(answer.headers["Connection"] == "close")
        #expect(busy.isClosed)
        #expect(await report == DrainReport(cut: 0, stillRunning: 0))
    }

    @Test func `what takes too long is cut`() async throws {
        let time = SteppedTime()
        let (begun, ended) = (Signals(), Signals())
        let server = try start(time) { request in
            begun.happen()
            if request.target.raw == "/events" {
                return .events { stream in
                    try await stream.send(Event("x"))
                    await untilCancelled()
                    ended.happen()
                }
            }
            await untilCancelled()
            ended.happen()
            return .text("too late")
        }
        let clients = try (0..<6).map { _ in try server.client() }
        for (number, client) in clients.enumerated() {
            try client.send(
                "GET \(number % 2 == 0 ? "/events" : "/slow") HTTP/1.1\r\nHost: x\r\n\r\n"
            )
        }
        await begun.happened(6)
        let report = await time.passing(at: server) { await server.stop(within: .seconds(10)) }
        #expect(report == DrainReport(cut: 6, stillRunning: 0))
        await ended.happened(6)
    }

    @Test func `a handler that does not listen is reported`() async throws {
        let time = SteppedTime()
        let (begun, gate) = (Signals(), Signals())
        let server = try start(time) { _ in
            begun.happen()
            await gate.happened()
            return .text("never heard")
        }
        let client = try server.client()
        try client.send(Self.ask)
        await begun.happened()
        let report = await time.passing(at: server) { await server.stop(within: .zero) }
        #expect(report == DrainReport(cut: 1, stillRunning: 1))
        #expect(await server.stop(within: .zero) == report, "Who asks later hears the same.")
        gate.happen()
        await server.loop.quiet()
    }

    @Test func `stopping twice is stopping once`() async throws {
        let server = try start { _ in .text("x") }
        async let first = server.stop(within: .seconds(1))
        async let second = server.stop(within: .seconds(1))
        #expect(await first == second)
        #expect(await server.stop(within: .zero) == DrainReport())
    }
}
