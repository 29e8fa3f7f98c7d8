import HTTP
import JSON
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// What clients that listen are told.
@Suite(.timeLimit(.minutes(1)))
struct EventTests {
    @Test(arguments: Venue.allCases)
    func `a queued edit is told at once, and never what is in it`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            try await guest.listen { events in
                _ = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"a secret"}"#)
                let event = try await events.next(named: "pending")
                #expect(event.data["itemId"]?.string == id)
                #expect(event.data["accountId"]?.string == guest.stage.userID)
                #expect(!event.data.text.contains("a secret"))
                #expect(event.id != nil)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `a client goes on after the last event it has seen`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            var seen: String?
            try await guest.listen { events in
                _ = try await guest.put("/network", #"{"mode":"offline"}"#)
                let event = try await events.next(named: "network")
                #expect(event.data["state"]?.string == "offline")
                seen = event.id
            }
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            let last = try #require(seen)
            try await guest.listen(after: last) { events in
                let event = try await events.next(named: "network")
                #expect(event.data["state"]?.string == "online")
                #expect(event.id != last)
            }
        }
    }

    @Test
    func `a client that was away for a while hears all that it has missed, and what comes next`()
        async throws
    {
        try await Venue.host.open { guest async throws in
            let id = try await guest.login("one")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            var seen: String?
            try await guest.listen { events in
                _ = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"first"}"#)
                seen = try await events.next(named: "pending").id
            }
            for number in 0..<300 {
                _ = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"\#(number)"}"#)
            }
            let last = try #require(seen)
            try await guest.listen(after: last) { events in
                for _ in 0..<300 { _ = try await events.next(named: "pending") }
                _ = try await guest.put("/network", #"{"mode":"auto"}"#)
                _ = try await events.next(named: "network")
            }
        }
    }

    @Test func `who comes when the board is closed hears its end`() async {
        let board = EventBoard()
        board.post(.account(userID: "u"))
        board.close()
        await board.listen(after: 0) { events in
            var heard = 0
            for await _ in events { heard += 1 }
            #expect(heard == 1)
        }
    }

    /// What a listener hears at once, by its numbers; a hint bears a minus.
    private static func heard(on board: EventBoard, after number: Int?) async -> [Int] {
        await board.listen(after: number, orHearing: [.account(userID: "hint")]) { events in
            var heard: [Int] = []
            for await numbered in events {
                let isHint = if case .account("hint") = numbered.event { true } else { false }
                heard.append(isHint ? -numbered.number : numbered.number)
            }
            return heard
        }
    }

    @Test(
        arguments: [
            (nil, []), (99, [100, 101, 102]), (101, [102]), (102, []), (103, [-99, 100, 101, 102]),
            (98, [-99, 100, 101, 102]), (-1, [-99, 100, 101, 102]),
        ] as [(Int?, [Int])]
    )
    func `who cannot be told all that they have missed is told first to look again`(
        _ number: Int?,
        _ wanted: [Int]
    ) async {
        let board = EventBoard(from: 100)
        for _ in 0..<3 { board.post(.account(userID: "u")) }
        board.close()
        #expect(await Self.heard(on: board, after: number) == wanted)
    }

    @Test func `who was away for longer than anything is remembered is told to look again`() async {
        let board = EventBoard()
        for _ in 0...EventBoard.mostAtOnce { board.post(.account(userID: "u")) }
        board.close()
        let late = await Self.heard(on: board, after: 1)
        let oldest = late[1]
        #expect(late.first == 1 - oldest)
        #expect(await Self.heard(on: board, after: oldest - 1).first == oldest)
    }

    @Test(arguments: [0, 3])
    func `who is cut off while told to look again is told all of it again, or goes on`(
        _ remembered: Int
    ) async {
        let board = EventBoard(from: 100)
        for _ in 0..<remembered { board.post(.account(userID: "u")) }
        board.close()
        let hints = (0..<3).map { MeshEvent.account(userID: "hint \($0)") }
        func heard(after number: Int) async -> [NumberedEvent] {
            await board.listen(after: number, orHearing: hints) { events in
                await events.reduce(into: []) { $0.append($1) }
            }
        }
        let all = await heard(after: 7)
        #expect(all.count == 3 + remembered)
        #expect(await heard(after: all[0].number).count == 3 + remembered)
        #expect(await heard(after: all[1].number).count == 3 + remembered)
        #expect(await heard(after: all[2].number).count == remembered)
    }

    @Test(arguments: ["7", "x", "99999999999999999999"])
    func `a client with a number that was not given here hears of each account first`(
        _ number: String
    ) async throws {
        try await Venue.host.open { guest async throws in
            // What happened to the account itself is not remembered any more.
            let board = try #require(guest.accounts).board
            for _ in 0...EventBoard.mostAtOnce {
                board.post(.network(upstream: "elsewhere", .online))
            }
            try await guest.listen(after: number) { events in
                let event = try await events.next(named: "account")
                #expect(event.data["accountId"]?.string == guest.stage.userID)
            }
        }
    }

    @Test func `a client hears that its account is on another server now, and how that stands`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let stage = try #require(guest.stage as? HostStage)
            let other = stage.server.replacing("127.0.0.1", with: "localhost")
            let path = "/accounts/\(stage.userID)"
            try await guest.listen(path + "/events") { events in
                #expect(try await guest.put(path, #"{"server":"\#(other)"}"#).isSuccess)
                let event = try await events.next(named: "account")
                #expect(event.data["accountId"]?.string == stage.userID)
                #expect(try await guest.put("/network", #"{"mode":"offline"}"#).isSuccess)
                let network = try await events.next(named: "network")
                #expect(network.data["server"]?.string == other)
            }
        }
    }

    @Test func `whoever listens for one account looks again once, and goes on from there`()
        async throws
    {
        var host = RestingHost(of: 3)
        // Nothing else happens.
        host.beginning = Gate()
        try await host.open { accounts in
            for desk in accounts.desks {
                let audience = Audience(accountID: desk.id, server: nil)
                func hints(after number: Int) async throws -> [Int] {
                    var hints: [Int] = []
                    try await accounts.listen(after: number, where: audience.hears) { events in
                        accounts.board.post(.network(upstream: "elsewhere", .online))
                        for await numbered in events {
                            guard case .account(let userID) = numbered.event else { break }
                            if userID == desk.id { hints.append(numbered.number) }
                        }
                    }
                    return hints
                }
                let first = try await hints(after: 7)
                #expect(first.count == 1)
                #expect(try await hints(after: try #require(first.first)).isEmpty)
            }
        }
    }

    @Test func `a listener that goes while something is told is in nobody's way`() async {
        for round in 0..<5_000 {
            let board = EventBoard()
            await withDiscardingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        await board.listen(after: nil) { events in for await _ in events {} }
                    }
                }
                group.addTask { for _ in 0..<50 { board.post(.account(userID: "u")) } }
                for _ in 0..<round % 10 { await Task.yield() }
                group.cancelAll()
            }
            #expect(board.listenerCount == 0, "Nobody who has left is remembered.")
        }
    }

    @Test func `every kind of event has its name and its members`() {
        let lane = Lane(userID: "u", cipherID: "c")
        let moment = Moment(ticks: 17_681_155_649_012_345)
        let note = ResolutionNote(.pushed, at: moment, winner: .local)
        let report = SyncReport(.deferred, reason: "why", ended: moment)
        let wanted: [(MeshEvent, String, String)] = [
            (
                .pending(lane, changeID: "p"), "pending",
                #"{"accountId":"u","pendingId":"p","itemId":"c"}"#
            ),
            (
                .resolution(lane, changeID: "p", note), "resolution",
                """
                {"accountId":"u","pendingId":"p","itemId":"c","outcome":"pushed",\
                "winner":"local","backupItemId":null,"date":"2026-01-11T07:12:44.901Z"}
                """
            ),
            (
                .sync(userID: "u", report), "sync",
                """
                {"accountId":"u","outcome":"deferred","reason":"why",\
                "date":"2026-01-11T07:12:44.901Z"}
                """
            ),
            (
                .network(upstream: "s", .degraded), "network",
                #"{"server":"s","state":"degraded"}"#
            ),
            (.account(userID: "u"), "account", #"{"accountId":"u"}"#),
        ]
        for (event, name, text) in wanted {
            let object = EventObject(event: event)
            #expect(object.name == name)
            #expect(String(decoding: JSON.Raw(object).bytes, as: UTF8.self) == text)
        }
    }

    @Test func `a client of one account hears of that account and of its upstream`() {
        let mine = Audience(accountID: "u", server: "https://vault.example.test")
        let moment = Moment(ticks: 0)
        let report = SyncReport(.completed, reason: nil, ended: moment)
        for (userID, isHeard) in [("u", true), ("v", false)] {
            let lane = Lane(userID: userID, cipherID: "c")
            #expect(mine.hears(.pending(lane, changeID: "p")) == isHeard)
            #expect(
                mine.hears(.resolution(lane, changeID: "p", .init(.pushed, at: moment))) == isHeard
            )
            #expect(mine.hears(.sync(userID: userID, report)) == isHeard)
            #expect(mine.hears(.account(userID: userID)) == isHeard)
        }
        #expect(mine.hears(.network(upstream: "https://vault.example.test", .online)))
        #expect(!mine.hears(.network(upstream: "t", .online)))
        #expect(Audience(accountID: nil, server: nil).hears(.account(userID: "v")))
    }

    @Test func `below an account nothing is told of others`() async throws {
        let venue = try StillVenue()
        let other = try venue.household.add(
            "8f0e7f0e-0000-4000-8000-000000000002",
            "b@example.test"
        )
        try await venue.open { guest async throws in
            try await guest.listen("/accounts/\(other.id)/events") { events in
                venue.household.tell(.account(userID: guest.stage.userID))
                venue.household.tell(.account(userID: other.id))
                let event = try await events.next(named: "account")
                #expect(event.data["accountId"]?.string == other.id)
            }
        }
    }

    @Test func `a token whose account is gone hears nothing of others`() async throws {
        var venue = try StillVenue()
        venue.caller = Caller(.read, accountID: "8f0e7f0e-0000-4000-8000-000000000002")
        try await venue.open { guest async throws in
            let reply = try await guest.get("/events")
            #expect(reply.status == .badRequest)
            #expect(reply.message == "You are not logged in.")
        }
    }

    @Test func `a stream that is silent is kept alive`() async throws {
        let time = VirtualTimekeeper()
        let (silence, end) = AsyncStream<NumberedEvent>.makeStream()
        let feed = EventFeed(timekeeper: time, audience: Audience(accountID: nil, server: nil))
        let response = Response.events { try await feed.send(silence, to: $0) }
        let handler: Handler = { _ in response }
        let server = try Server.start(
            [Listener(name: "api", .tcp(SocketAddress(host: "127.0.0.1", port: 0)))],
            handler: handler
        )
        let client = try Client()
        guard case .tcp(let address) = server.listeners[0].address else {
            Issue.record("It is something else.")
            return
        }
        let stream = try await client.open(.init(.get, "http://\(address)/"))
        var text = ""
        for try await piece in stream.body {
            text += String(decoding: piece, as: UTF8.self)
            if text.hasSuffix(":\n\n") || text.hasSuffix(": \n\n") { break }
            while !time.advance() { await Task.yield() }
        }
        #expect(text.hasPrefix(": This is what happens.\n\n"))
        #expect(time.elapsed == EventFeed.heartbeat)
        end.finish()
        await client.close()
        await server.stop(within: .seconds(1))
    }
}

/// An event as it came.
struct HeardEvent {
    let id: String?
    let data: JSON.Value
}

/// What comes from an event stream, as it comes.
final class Listening {
    private var pieces: Client.ResponseBody.AsyncIterator
    private var text = ""

    init(_ body: Client.ResponseBody) {
        pieces = body.makeAsyncIterator()
    }

    /// Skips what is called otherwise.
    func next(named name: String) async throws -> HeardEvent {
        while true {
            while let end = text.firstRange(of: "\n\n") {
                let lines = text[..<end.lowerBound].split(separator: "\n").map(String.init)
                text = String(text[end.upperBound...])
                func field(_ name: String) -> String? {
                    lines.first { $0.hasPrefix("\(name): ") }.map {
                        String($0.dropFirst(name.count + 2))
                    }
                }
                guard field("event") == name, let data = field("data") else { continue }
                return HeardEvent(
                    id: field("id"),
                    data: try JSON.Document(Array(data.utf8)).root
                )
            }
            guard let piece = try await pieces.next() else { throw Unexpected("no more events") }
            text += String(decoding: piece, as: UTF8.self)
        }
    }

    /// Waits until the host has begun to tell.
    func begin() async throws {
        while !text.contains("\n\n") {
            guard let piece = try await pieces.next() else { throw Unexpected("no events") }
            text += String(decoding: piece, as: UTF8.self)
        }
    }
}

extension Guest {
    /// Listens while the story runs, and leaves then.
    func listen(
        _ path: String = "/events",
        after id: String? = nil,
        _ story: (Listening) async throws -> Void
    ) async throws {
        var request = Client.Request(.get, base + path)
        request.headers = headers
        if let id { request.headers["Last-Event-ID"] = id }
        let response = try await client.open(request)
        #expect(response.headers["Content-Type"] == "text/event-stream")
        let listening = Listening(response.body)
        try await listening.begin()
        try await story(listening)
    }
}
