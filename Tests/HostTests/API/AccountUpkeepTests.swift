import Crypto
import HTTP
import Testing

@testable import Host
@testable import Sync

/// What accounts do not do more often, or share more widely, than they have to.
@Suite(.timeLimit(.minutes(1)))
struct AccountUpkeepTests {
    @Test func `keys of which nothing is new are opened once, however often the account syncs`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let account = try #require(guest.accounts?.account(guest.stage.userID))
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            let ring = try #require(account.keyholder.keys)
            for _ in 0..<3 { #expect(try await guest.post("/sync?force=true", "").isSuccess) }
            #expect(account.keyholder.keys === ring)
            let (organization, _) = try await guest.stage.addOrganization()
            let renewed = try #require(account.keyholder.keys)
            #expect(renewed !== ring)
            #expect(renewed.owner(organizationID: organization) != nil)
            #expect(ring.owner(organizationID: organization) == nil)
        }
    }

    @Test func `runs stand in line with those for the same server, and for no other`() async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let other = try accounts.link(to: "https://other.example.test")
            var places: [RunTurns.Place] = []
            for number in 0..<RunTurns.mostAtOnce {
                places.append(await other.runs.begin("\(number)", isInsistent: false))
            }
            try await guest.editWhileAway()
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            for number in 0..<RunTurns.mostAtOnce {
                places.append(await account.link.runs.begin("\(number)", isInsistent: false))
            }
            try await guest.editWhileAway()
            while !account.link.runs.hurry(account.id) { await Task.yield() }
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            #expect(places.allSatisfy { $0 == .counted })
        }
    }
}

extension Guest {
    /// An item that is made while the network is away, which is back at the end.
    fileprivate func editWhileAway() async throws {
        #expect(try await put("/network", #"{"mode":"offline"}"#).isSuccess)
        let reply = try await post("/object/item", Sample.login)
        #expect(reply.headers["Holdfast-Disposition"] == "queued")
        #expect(try await put("/network", #"{"mode":"auto"}"#).isSuccess)
    }
}
