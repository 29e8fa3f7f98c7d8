import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

func withSockets(
    _ configure: (inout WebSocketClient.Configuration) -> Void = { _ in },
    against script: @escaping @Sendable (ScriptedConnection) -> Void,
    _ body: (WebSocketClient, String) async throws -> Void
) async throws {
    let server = try ScriptedServer(script)
    var configuration = WebSocketClient.Configuration()
    configure(&configuration)
    let client = try WebSocketClient(configuration: configuration)
    do {
        try await body(client, "ws://127.0.0.1:\(server.port)")
    } catch {
        Issue.record("\(error)")
    }
    await client.close()
    #expect(await client.count() == 0)
    server.stop()
    #expect(server.openCount == 0)
}

private func failure(
    _ body: () async throws(WebSocketError) -> some Sendable
) async -> WebSocketError.Reason? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error.reason
    }
}

private func all(of socket: WebSocket) async throws(WebSocketError) -> [WebSocketMessage] {
    var messages: [WebSocketMessage] = []
    for try await message in socket { messages.append(message) }
    return messages
}

@Suite struct WebSocketTests {
    @Test func `the handshake carries path, query, host and headers, however long`() async throws {
        let token = String(repeating: "t", count: 6_000)
        let head = Lock("")
        try await withSockets { connection in
            let text = connection.upgrade() ?? ""
            head.withLock { $0 = text }
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
            connection.waitForEnd()
        } _: { client, url in
            let socket = try await client.connect(
                url + "/hub?access_token=\(token)",
                headers: ["Authorization": "Bearer \(token)"]
            )
            #expect(try await all(of: socket) == [])
            #expect(socket.goodbye == 1_000)
            let text = head.withLock { $0 }
            #expect(text.hasPrefix("GET /hub?access_token=\(token) HTTP/1.1\r\n"))
            #expect(field("authorization", of: text) == "Bearer \(token)")
            #expect(field("host", of: text) == String(url.dropFirst(5)))
        }
    }

    @Test func `messages go both ways, in order, whole and masked`() async throws {
        try await withSockets { connection in
            connection.upgrade()
            while let frame = connection.frame(), frame.opcode != Opcode.close {
                guard frame.isMasked else { return }
                connection.sendFrame(frame.opcode, frame.payload)
            }
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            let big = [UInt8](repeating: 3, count: 300_000)
            let messages: [WebSocketMessage] = [.text("hé"), .binary([]), .binary(big), .text("")]
            for message in messages { try await socket.send(message) }
            var received: [WebSocketMessage] = []
            for try await message in socket {
                received.append(message)
                if received.count == messages.count { socket.close() }
            }
            #expect(received == messages)
        }
    }

    @Test func `fragments become one message, with a ping in between`() async throws {
        let pong = Lock<[UInt8]>([])
        try await withSockets { connection in
            connection.upgrade()
            connection.sendFrame(Opcode.text, Array("ab".utf8), isLast: false)
            connection.sendFrame(Opcode.ping, [7])
            connection.sendFrame(Opcode.more, Array("cd".utf8), isLast: false)
            connection.sendFrame(Opcode.more, Array("ef".utf8))
            let frame = connection.frame()
            pong.withLock { $0 = frame?.opcode == Opcode.pong ? frame?.payload ?? [] : [] }
            connection.sendFrame(Opcode.close, [0x0F, 0xA0])
            connection.waitForEnd()
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            #expect(try await all(of: socket) == [.text("abcdef")])
            #expect(socket.goodbye == 4_000)
            #expect(pong.withLock { $0 } == [7])
        }
    }

    /// What still comes of it is read over.
    @Test(arguments: [1_000, 10_000, 90_000])
    func `a message beyond the limit ends the socket, also in fragments`(
        _ size: Int
    ) async throws {
        let goodbye = Lock<[UInt8]>([])
        try await withSockets {
            $0.messageLimit = 100_000
        } against: { connection in
            connection.upgrade()
            for index in 0..<1_000_000 / size {
                let opcode = index == 0 ? Opcode.binary : Opcode.more
                connection.sendFrame(opcode, [UInt8](repeating: 1, count: size), isLast: false)
            }
            let frame = connection.frame()
            goodbye.withLock { $0 = frame?.payload ?? [] }
            connection.waitForEnd()
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            let reason = await failure { () throws(WebSocketError) in try await all(of: socket) }
            #expect(reason == .tooLarge(limit: 100_000))
        }
        #expect(goodbye.withLock { $0.prefix(2) } == [0x03, 0xF1])
    }

    @Test func `what says that it is text and is none ends the socket`() async throws {
        let goodbye = Lock<[UInt8]>([])
        try await withSockets { connection in
            connection.upgrade()
            connection.sendFrame(Opcode.text, [0x61, 0xff])
            let frame = connection.frame()
            goodbye.withLock { $0 = frame?.payload ?? [] }
            connection.waitForEnd()
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            let reason = await failure { () throws(WebSocketError) in try await all(of: socket) }
            #expect(reason == .malformed("what is said to be text is none"))
        }
        #expect(goodbye.withLock { $0.prefix(2) } == [0x03, 0xEF])
    }

    @Test func `a connection that breaks is lost, after what has come`() async throws {
        try await withSockets { connection in
            connection.upgrade()
            connection.sendFrame(Opcode.text, Array("last".utf8))
            guard connection.frame() != nil else { return }
            connection.reset()
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            try await socket.send(.text("go"))
            var messages: [WebSocketMessage] = []
            let reason = await failure { () async throws(WebSocketError) in
                for try await message in socket { messages.append(message) }
            }
            #expect(messages == [.text("last")])
            #expect(reason == .connectionLost)
            let later = await failure { () throws(WebSocketError) in
                try await socket.send(.text("too late"))
            }
            #expect(later == .closed)
        }
    }

    @Test func `a server that falls silent is given up on`() async throws {
        let pings = Lock(0)
        try await withSockets {
            $0.pingInterval = .milliseconds(50)
            $0.silenceLimit = .seconds(2)
        } against: { connection in
            connection.upgrade()
            while let frame = connection.frame() {
                if frame.opcode == Opcode.ping { pings.withLock { $0 += 1 } }
            }
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            let reason = await failure { () throws(WebSocketError) in try await all(of: socket) }
            #expect(reason == .silent)
        }
        #expect(pings.withLock { $0 } >= 2)
    }

    @Test func `answers to pings keep a quiet socket open`() async throws {
        try await withSockets {
            $0.pingInterval = .milliseconds(50)
            $0.silenceLimit = .seconds(4)
        } against: { connection in
            connection.upgrade()
            // Longer than the silence that is borne.
            for _ in 0..<100 {
                guard let frame = connection.frame() else { return }
                connection.sendFrame(Opcode.pong, frame.payload)
            }
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
            connection.waitForEnd()
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            #expect(try await all(of: socket) == [])
        }
    }

    @Test(arguments: [401, 403, 302, 200])
    func `another status than 101 is a refusal`(_ status: Int) async throws {
        try await withSockets { connection in
            _ = connection.request()
            connection.respond("\(status) No", headers: ["Location: /elsewhere"])
            connection.waitForEnd()
        } _: { client, url in
            let reason = await failure { () throws(WebSocketError) in
                try await client.connect(url + "/hub")
            }
            #expect(reason == .refused(Status(rawValue: status)))
        }
    }

    @Test func `a server that accepts with a wrong key is malformed`() async throws {
        try await withSockets { connection in
            connection.upgrade(accept: acceptKey(for: "another"))
            connection.waitForEnd()
        } _: { client, url in
            let reason = await failure { () throws(WebSocketError) in
                try await client.connect(url + "/")
            }
            guard case .malformed = reason else {
                Issue.record("\(String(describing: reason))")
                return
            }
        }
    }

    @Test func `nobody there, no such name, and no answer have their own names`() async throws {
        let (listener, port) = try listenOnLoopback()
        close(listener)
        func attempt(_ client: WebSocketClient, _ url: String) async -> WebSocketError.Reason? {
            await failure { () throws(WebSocketError) in try await client.connect(url) }
        }
        try await withSockets(against: { $0.waitForEnd() }) { client, _ in
            #expect(await attempt(client, "ws://127.0.0.1:\(port)/") == .unreachable)
            #expect(await attempt(client, "ws://holdfast.invalid/") == .unresolvable)
        }
        try await withSockets {
            $0.connectDeadline = .milliseconds(300)
        } against: {
            $0.waitForEnd()
        } _: { client, url in
            #expect(await attempt(client, url + "/") == .timedOut)
        }
    }

    @Test func `a reader that is slow makes the server wait`() async throws {
        let sent = Lock(0)
        try await withSockets {
            $0.window = 64 << 10
        } against: { connection in
            connection.upgrade()
            for _ in 0..<2_000 {
                connection.sendFrame(Opcode.binary, [UInt8](repeating: 1, count: 16_000))
                sent.withLock { $0 += 1 }
            }
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
            connection.waitForEnd()
        } _: { client, url in
            let socket = try await client.connect(url + "/")
            var received = 0
            for try await _ in socket {
                received += 1
                // What is ahead lies in the window and in the buffers of the two sockets.
                #expect(sent.withLock { $0 } - received < 1_000)
            }
            #expect(received == 2_000)
        }
    }

    @Test func `a cancelled reader ends the socket`() async throws {
        let isOpen = AsyncStream.makeStream(of: Void.self)
        try await withSockets { connection in
            connection.upgrade()
            connection.waitForEnd()
        } _: { client, url in
            let reason = await withTaskGroup { tasks in
                tasks.addTask {
                    await failure { () async throws(WebSocketError) in
                        let socket = try await client.connect(url + "/")
                        isOpen.continuation.yield()
                        return try await all(of: socket)
                    }
                }
                for await _ in isOpen.stream { break }
                tasks.cancelAll()
                return await tasks.next() ?? nil
            }
            #expect(reason == .cancelled)
        }
    }
}
