import Bitwarden
import HTTP
import System
import Testing
import Vault

@testable import EmbeddedUpstream

/// What an import does to the world, apart from how it is answered.
struct ImportTests {
    private static let userID = "11111111-1111-4111-8111-111111111111"
    private static let now = Moment(ticks: 17_000_000_000_000_000)

    private static func world(_ personality: Personality) -> World {
        var world = World(personality)
        let registration = Registration(
            email: "guest@example.com",
            masterPasswordHash: "hash",
            settings: .usual,
            wrappedUserKey: Guest.sealed,
            keys: AccountKeys(publicKey: "p", wrappedPrivateKey: Guest.sealed)
        )
        world.accounts[userID] = Account(
            registration,
            id: userID,
            stamp: "s",
            apiKey: "k",
            at: now
        )
        return world
    }

    private static func call(_ personality: Personality, _ body: String) throws -> Call {
        let session = Session(
            userID: userID,
            deviceID: "d",
            clientID: "cli",
            stamp: "s",
            expires: now.advanced(bySeconds: 60)
        )
        return Call(
            method: .post,
            target: try #require(Target("/api/ciphers/import")),
            headers: [:],
            body: Array(body.utf8),
            personality: personality,
            now: now.advanced(bySeconds: 1),
            chance: SeededChance(seed: 7),
            origin: "http://localhost",
            session: session
        )
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `an import of many moves the account's date once, right after them all`(
        _ personality: Personality
    ) throws {
        let items = [String](repeating: Guest.login(), count: 20).joined(separator: ",")
        let body = """
            {"ciphers":[\(items)],"folders":[{"name":"\(Guest.sealed)"}],
            "folderRelationships":[{"key":0,"value":0}]}
            """
        var world = Self.world(personality)
        let call = try Self.call(personality, body)
        let route = try #require(
            Routes(personality).all.first { $0.operation == .importCiphers }
        )
        #expect(try route.deed(call, &world).status == .ok)
        let account = try #require(world.accounts[Self.userID])
        #expect(account.ciphers.count == 20 && account.folders.count == 1)
        let dates = account.ciphers.values.map(\.revised) + account.folders.values.map(\.revised)
        let last = try #require(dates.max())
        var next = world
        next.lastStamp = last
        #expect(account.revised == next.stamp(call), "The stamp that follows the last one.")
        #expect(account.revised == world.lastStamp)
        #expect(world.announcements.map(\.event.kind) == [.vaultChanged])
    }
}
