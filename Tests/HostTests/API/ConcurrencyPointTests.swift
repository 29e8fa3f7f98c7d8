import HTTP
import System
import Testing

/// Points 50 to 52 of the contract with clients of `bw serve`: many at once, and without upstream.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyPointTests {
    @Test(arguments: Venue.allCases)
    func `point 50: a list is never short because of a sync`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for number in 0..<10 { try await guest.login("item \(number)") }
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { () async throws in
                        for _ in 0..<5 {
                            #expect(try await guest.post("/sync?force=true").isSuccess)
                        }
                    }
                    group.addTask { () async throws in
                        for _ in 0..<10 {
                            let reply = try await guest.get("/list/object/items")
                            #expect(reply.elements.count == 10)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `point 51: ten thousand questions leave nothing behind`() async throws {
        try await Venue.host.open { guest async throws in
            try await guest.ask(1_000)
            let before = try residentPages()
            try await guest.ask(10_000)
            let grown = try residentPages() - before
            #expect(grown < 2_048, "\(grown) pages of 4 KiB more than before")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 52: without upstream everything that is here is answered`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one", #""password":"p""#)
            #expect(try await guest.put("/network", #"{"mode":"offline"}"#).isSuccess)
            #expect(try await guest.get("/object/password/\(id)").string == "p")
            _ = try await guest.post("/lock")
            let password = #"{"password":"\#(guest.stage.password)"}"#
            #expect(try await guest.post("/unlock", password).isSuccess)
            #expect(try await guest.get("/list/object/items").names == ["one"])
            let sync = try await guest.post("/sync")
            #expect(sync.status == .badRequest && sync.message?.isEmpty == false)
            #expect(try await guest.get("/status").isSuccess)
        }
    }
}

extension Guest {
    fileprivate func ask(_ count: Int) async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { () async throws in
                    for _ in 0..<(count / 8) {
                        let reply = try await get("/status")
                        guard reply.status == .ok else { throw Unexpected(reply.text) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

private func residentPages() throws -> Int {
    let text = String(decoding: try Files.read("/proc/self/statm"), as: UTF8.self)
    return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
}
