import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

@Suite struct WebSocketLookupTests {
    /// A system that has no thread to spare for those of that name.
    private func refusing(_ refused: String) -> ThreadStart {
        { (name, body) throws(SystemError) in
            if name == refused { throw SystemError("pthread_create \(name)", code: EAGAIN) }
            try systemThread(name, body)
        }
    }

    @Test func `hundreds of names are looked up by a few threads`() async throws {
        let (count, gate) = (300, Gate())
        let tally = Lock((now: 0, most: 0))
        let lookup = NameLookup { _ in
            tally.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            gate.pass()
            tally.withLock { $0.now -= 1 }
            return []
        }
        let client = try WebSocketClient(configuration: .init(), nameLookup: lookup)
        await withTaskGroup { tasks in
            for index in 0..<count {
                tasks.addTask { await refusal(client, "ws://h\(index).test/") }
            }
            while await client.count() < count {}
            for _ in 0..<count { gate.open() }
            for await reason in tasks { #expect(reason == .unresolvable) }
        }
        #expect((1...NameLookup.threadLimit).contains(tally.withLock(\.most)))
        await client.close()
    }

    @Test func `a look-up that hangs holds nobody beyond the deadline, nor who gives up`()
        async throws
    {
        let gate = Gate()
        let lookup = NameLookup { _ in
            gate.pass()
            return []
        }
        var configuration = WebSocketClient.Configuration()
        configuration.connectDeadline = .milliseconds(100)
        let client = try WebSocketClient(configuration: configuration, nameLookup: lookup)
        for index in 0..<10 {
            let late = await refusal(client, "ws://h\(index).test/")
            #expect(late == .timedOut)
        }
        #expect(lookup.askerCount == 0)
        await client.close()
        for _ in 0..<NameLookup.threadLimit { gate.open() }
    }

    enum Silence: CaseIterable { case inTheHandshake, beforeTheConnection }

    @Test(arguments: Silence.allCases)
    func `an address that never answers does not hide the next`(_ silence: Silence) async throws {
        let server = try ScriptedServer { connection in
            connection.upgrade()
            connection.waitForEnd()
        }
        let (mute, _) = try listenOnLoopback(at: 0x7F00_0002, port: server.port)
        defer { close(mute) }
        var plug: Int32?
        if silence == .beforeTheConnection {
            plug = try fill(mute, at: 0x7F00_0002, port: server.port)
        }
        defer { plug.map { _ = close($0) } }
        let lookup = NameLookup { name in
            name == "vault.test" ? ["127.0.0.2", "127.0.0.1"] : ["127.0.0.2", "127.0.0.2"]
        }
        func client(within deadline: Duration) throws -> WebSocketClient {
            var configuration = WebSocketClient.Configuration()
            configuration.connectDeadline = deadline
            return try WebSocketClient(configuration: configuration, nameLookup: lookup)
        }
        // The mute address has half of it.
        let patient = try client(within: .seconds(6))
        _ = try await patient.connect("ws://vault.test:\(server.port)/")
        #expect(server.acceptedCount == 1)
        let hasty = try client(within: .milliseconds(300))
        #expect(await refusal(hasty, "ws://mute.test:\(server.port)/") == .timedOut)
        #expect(server.acceptedCount == 1)
        await patient.close()
        await hasty.close()
        server.stop()
    }

    @Test func `addresses share the time that is left`() async throws {
        let order = try WebSocketOrder(
            url: "ws://vault.test/",
            headers: [:],
            proxies: WebSocketClient.Configuration().proxies
        )
        let outcome = await withCheckedContinuation {
            (opener: CheckedContinuation<WebSocketLink.Outcome, Never>) in
            let link = WebSocketLink(
                id: 1,
                order: order,
                pipe: MessagePipe(window: 1),
                messageLimit: 1,
                opener: opener
            )
            let bounds = WebSocketClient.Configuration()
            link.begin(deadline: .seconds(20))
            link.addresses = ["a", "b", "c"]
            #expect(link.nextAddress(at: .seconds(2)) == "a")
            #expect(link.care(at: .seconds(7), bounds) == .wait(until: .seconds(8)))
            #expect(link.care(at: .seconds(8), bounds) == .tryNext)
            #expect(link.nextAddress(at: .seconds(8)) == "b")
            #expect(link.care(at: .seconds(8), bounds) == .wait(until: .seconds(14)))
            // b has refused at once.
            #expect(link.nextAddress(at: .seconds(9)) == "c")
            #expect(link.care(at: .seconds(19), bounds) == .wait(until: .seconds(20)))
            #expect(link.care(at: .seconds(20), bounds) == .end(.timedOut))
            #expect(link.nextAddress(at: .seconds(20)) == nil)
            link.end(with: .timedOut)
        }
        #expect(throws: WebSocketError.Reason.self) { try outcome.get() }
    }

    @Test(arguments: [3, Int.max])
    func `a client has only so many sockets, and says so`(_ allowed: Int) async throws {
        let limit = min(allowed, WebSocketLoop.socketLimit)
        let gate = Gate()
        let lookup = NameLookup { _ in
            gate.pass()
            return []
        }
        var configuration = WebSocketClient.Configuration()
        configuration.socketLimit = allowed
        let client = try WebSocketClient(configuration: configuration, nameLookup: lookup)
        await withTaskGroup { tasks in
            for _ in 0..<limit {
                tasks.addTask { await refusal(client, "ws://vault.test/") }
            }
            while await client.count() < limit {}
            let surplus = await refusal(client, "ws://vault.test/")
            #expect(surplus == .local("there are \(limit) sockets already"))
            gate.open()
            for await reason in tasks { #expect(reason == .unresolvable) }
        }
        #expect(await client.count() == 0)
        await client.close()
    }

    @Test func `a system without threads is an error with a name`() async throws {
        let lookup = NameLookup(startThread: refusing("names"))
        let client = try WebSocketClient(configuration: .init(), nameLookup: lookup)
        let lost = await refusal(client, "ws://vault.test/")
        guard case .local(let text) = lost, text.contains("pthread_create") else {
            Issue.record("\(String(describing: lost))")
            return
        }
        await client.close()

        #expect(throws: WebSocketError.self) {
            try WebSocketClient(
                configuration: .init(),
                nameLookup: NameLookup(),
                startThread: refusing("websockets")
            )
        }
        #expect(throws: ClientError.self) {
            try Client(configuration: .init(), startThread: refusing("http-client"))
        }
    }

    @Test func `who asks for the same name shares the answer`() {
        var lookups = Lookups(limit: 1)
        let wantsThread = [lookups.ask("a", for: 1), lookups.ask("a", for: 2)]
        #expect(wantsThread == [true, false])
        let wantsAnother = [lookups.ask("b", for: 3), lookups.ask("c", for: 4)]
        #expect(wantsAnother == [false, false])

        #expect(lookups.next() == "a")
        lookups.withdraw(1)
        lookups.withdraw(3)
        let sharers = lookups.finish("a")
        #expect(sharers == [2])
        #expect(lookups.next() == "c", "Nobody waits for b any more.")
        lookups.withdraw(4)
        let nobody = lookups.finish("c")
        #expect(nobody.isEmpty)
        #expect(lookups.next() == nil)
        #expect(lookups.threadCount == 0)
        #expect(lookups.askerCount == 0)
    }

    @Test func `a refused thread strands those only whom no other serves`() {
        var lookups = Lookups(limit: 2)
        _ = lookups.ask("a", for: 1)
        _ = lookups.ask("b", for: 2)
        var stranded = lookups.threadRefused()
        #expect(stranded.isEmpty)
        stranded = lookups.threadRefused()
        #expect(stranded == [1, 2])
        #expect(lookups.askerCount == 0)
    }
}

/// Leaves no room for one more connection, which then is neither taken nor refused.
private func fill(_ listener: Int32, at ip: UInt32, port: Int) throws -> Int32 {
    try system("listen") { listen(listener, 0) }
    let plug = try system("socket") { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = ip.bigEndian
    address.sin_port = UInt16(port).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            _ = try system("connect") { connect(plug, pointer, size) }
        }
    }
    return plug
}

private func refusal(_ client: WebSocketClient, _ url: String) async -> WebSocketError.Reason? {
    do {
        _ = try await client.connect(url)
        return nil
    } catch {
        return error.reason
    }
}
