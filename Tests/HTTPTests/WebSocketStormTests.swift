import Dispatch
import System
import Testing

@testable import HTTP

@Suite(.serialized) struct WebSocketStormTests {
    @Test(.enabled(if: FrontServer.program != nil))
    func `a WebSocket opens over TLS and goes through a front server`() async throws {
        try await withFront { connection in
            guard connection.upgrade()?.hasPrefix("GET /hub?token=x HTTP/1.1") == true else {
                return
            }
            while let frame = connection.frame(), frame.opcode != Opcode.close {
                connection.sendFrame(frame.opcode, frame.payload)
            }
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
        } _: { front in
            var configuration = WebSocketClient.Configuration()
            configuration.extraAuthoritiesPath = front.authorityPath
            let client = try WebSocketClient(configuration: configuration)
            let socket = try await client.connect("wss://127.0.0.1:\(front.port)/hub?token=x")
            let messages: [WebSocketMessage] = [
                .text("hé"), .binary([UInt8](repeating: 9, count: 400_000)), .binary([]),
            ]
            for message in messages { try await socket.send(message) }
            var received: [WebSocketMessage] = []
            for try await message in socket {
                received.append(message)
                if received.count == messages.count { socket.close() }
            }
            #expect(received == messages)
            await client.close()
            #expect(sockets(to: front.port) == 0)
        }
    }

    /// Sockets end in all the ways there are, hundreds at once: nothing is left over.
    @Test(.timeLimit(.minutes(1))) func `a storm of sockets passes without a trace`() async throws {
        let seed: UInt64 = 20_261_121
        let chance = SeededChance(seed: seed)
        let plans = (0..<600).map { index in (kind: index % 6, delay: chance.number(in: 0..<60)) }
        let server = try ScriptedServer { serve($0) }
        let client = try WebSocketClient()
        let url = "ws://127.0.0.1:\(server.port)"
        let outcomes = await withTaskGroup { storm in
            for plan in plans {
                storm.addTask { await one(client, url, plan.kind, plan.delay) }
            }
            return await storm.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes["closed"] == 100, "\(outcomes), seed \(seed)")
        #expect(outcomes["refused"] == 100, "\(outcomes), seed \(seed)")
        #expect(outcomes["lost"] == 100, "\(outcomes), seed \(seed)")
        #expect(outcomes["dropped"] == 100, "\(outcomes), seed \(seed)")
        #expect(outcomes["cancelled"] == 200, "\(outcomes), seed \(seed)")
        while await client.count() > 0 {}
        #expect(sockets(to: server.port) == 0)
        await client.close()
        server.stop()
        #expect(server.openCount == 0)
    }

    /// When a server is back, everybody wants to be the first.
    @Test(.timeLimit(.minutes(1)))
    func `of many that are opened together, sixty-four are under way, and all get there`()
        async throws
    {
        try await withThoseInLine(150) { openings, server, client, gate in
            #expect(sockets(to: server.port) == 64)
            gate.signal()
            for await outcome in openings { #expect(outcome == "closed") }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `who is cancelled in line is gone, and the next is opened`() async throws {
        try await withThoseInLine(100) { openings, server, client, gate in
            openings.cancelAll()
            for await outcome in openings { #expect(outcome == "cancelled") }
            #expect(await client.count() == 0)
            gate.signal()
            let url = "ws://127.0.0.1:\(server.port)"
            #expect(await outcome { try await live(client, url, 0) } == "closed")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a server that never answers is not in the way of another`() async throws {
        let other = try ScriptedServer { serve($0) }
        try await withThoseInLine(100) { openings, _, client, gate in
            let url = "ws://127.0.0.1:\(other.port)"
            #expect(await outcome { try await live(client, url, 0) } == "closed")
            openings.cancelAll()
            gate.signal()
        }
        other.stop()
    }

    /// So many want to go to a server that says nothing before the gate is signalled.
    private func withThoseInLine(
        _ count: Int,
        _ story: (
            inout TaskGroup<String>, ScriptedServer, WebSocketClient, DispatchSemaphore
        ) async -> Void
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try ScriptedServer { connection in
            gate.wait()
            // Once it is open, it is so for all.
            gate.signal()
            serve(connection)
        }
        let client = try WebSocketClient()
        let url = "ws://127.0.0.1:\(server.port)"
        await withTaskGroup(of: String.self) { openings in
            for _ in 0..<count {
                openings.addTask { await outcome { try await live(client, url, 0) } }
            }
            while await client.count() < count {}
            // What was counted with the last of them is opened by the next.
            _ = await client.count()
            await story(&openings, server, client, gate)
        }
        await client.close()
        server.stop()
    }
}

@Sendable
private func serve(_ connection: ScriptedConnection) {
    guard let head = connection.head(), let key = field("sec-websocket-key", of: head) else {
        return
    }
    guard !head.hasPrefix("GET /refuse") else {
        connection.respond("503 Busy")
        return
    }
    connection.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(acceptKey(for: key))\r\n\r\n"
    )
    while let frame = connection.frame() {
        guard !head.hasPrefix("GET /reset") else { return connection.reset() }
        connection.sendFrame(frame.opcode, frame.payload)
        guard frame.opcode != Opcode.close else { return }
    }
}

/// 0 is closed in good order, 1 refused, 2 reset by the server, 3 let go of; 4 is cancelled on the
/// way to a message, 5 while it sends as fast as it can.
private func one(_ client: WebSocketClient, _ url: String, _ kind: Int, _ delay: Int) async
    -> String
{
    guard kind >= 4 else { return await outcome { try await live(client, url, kind) } }
    return await withTaskGroup { tasks in
        tasks.addTask { await outcome { try await live(client, url, kind) } }
        for _ in 0..<delay { await Task.yield() }
        tasks.cancelAll()
        return await tasks.next() ?? "nothing"
    }
}

private func live(_ client: WebSocketClient, _ url: String, _ kind: Int) async throws -> String {
    let path = kind == 1 ? "/refuse" : kind == 2 ? "/reset" : "/"
    let socket = try await client.connect(url + path)
    if kind == 3 { return "dropped" }
    repeat {
        if kind != 4 { try await socket.send(.text("hello")) }
    } while kind == 5
    for try await message in socket {
        guard message == .text("hello") else { return "garbled" }
        socket.close()
    }
    return Task.isCancelled ? "cancelled" : "closed"
}

private func outcome(_ body: () async throws -> String) async -> String {
    do {
        return try await body()
    } catch {
        switch (error as? WebSocketError)?.reason {
        case .cancelled: return "cancelled"
        case .refused: return "refused"
        case .connectionLost: return "lost"
        default: return "\(error)"
        }
    }
}
