import Glibc
import System
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
        let book = AddressBook { _ in
            tally.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            gate.pass()
            tally.withLock { $0.now -= 1 }
            return []
        }
        let client = try WebSocketClient(configuration: .init(), addressBook: book)
        await withTaskGroup { tasks in
            for index in 0..<count {
                tasks.addTask { await refusal(client, "ws://h\(index).test/") }
            }
            while await client.count() < count {}
            for _ in 0..<count { gate.open() }
            for await reason in tasks { #expect(reason == .unresolvable) }
        }
        #expect((1...AddressBook.threadLimit).contains(tally.withLock(\.most)))
        await client.close()
    }

    @Test func `a look-up that hangs holds nobody beyond the deadline, nor who gives up`()
        async throws
    {
        let gate = Gate()
        let book = AddressBook { _ in
            gate.pass()
            return []
        }
        var configuration = WebSocketClient.Configuration()
        configuration.connectDeadline = .milliseconds(100)
        let client = try WebSocketClient(configuration: configuration, addressBook: book)
        for index in 0..<10 {
            let late = await refusal(client, "ws://h\(index).test/")
            #expect(late == .timedOut)
        }
        #expect(book.askerCount == 0)
        await client.close()
        for _ in 0..<AddressBook.threadLimit { gate.open() }
    }

    @Test func `a client has only so many sockets, and says so`() async throws {
        let gate = Gate()
        let book = AddressBook { _ in
            gate.pass()
            return []
        }
        let client = try WebSocketClient(configuration: .init(), addressBook: book)
        await withTaskGroup { tasks in
            for _ in 0..<WebSocketLoop.socketLimit {
                tasks.addTask { await refusal(client, "ws://vault.test/") }
            }
            while await client.count() < WebSocketLoop.socketLimit {}
            let surplus = await refusal(client, "ws://vault.test/")
            #expect(surplus == .local("there are \(WebSocketLoop.socketLimit) sockets already"))
            gate.open()
            for await reason in tasks { #expect(reason == .unresolvable) }
        }
        #expect(await client.count() == 0)
        await client.close()
    }

    @Test func `a system without threads is an error with a name`() async throws {
        let book = AddressBook(startThread: refusing("names"))
        let client = try WebSocketClient(configuration: .init(), addressBook: book)
        let lost = await refusal(client, "ws://vault.test/")
        guard case .local(let text) = lost, text.contains("pthread_create") else {
            Issue.record("\(String(describing: lost))")
            return
        }
        await client.close()

        #expect(throws: WebSocketError.self) {
            try WebSocketClient(
                configuration: .init(),
                addressBook: AddressBook(),
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

private func refusal(_ client: WebSocketClient, _ url: String) async -> WebSocketError.Reason? {
    do {
        _ = try await client.connect(url)
        return nil
    } catch {
        return error.reason
    }
}
