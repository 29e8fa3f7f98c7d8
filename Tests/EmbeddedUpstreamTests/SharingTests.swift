import HTTP
import JSON
import Testing

@testable import EmbeddedUpstream

struct SharingTests {
    private struct Firm {
        let owner: Guest
        let colleague: Guest
        let organizationID: String
        let collectionID: String

        init(_ personality: Personality, isReadOnly: Bool = false) async throws {
            owner = try await Guest(personality)
            colleague = try await owner.friend("colleague@example.com")
            let body = #"{"name":"Firm","key":"4.AAAA","collectionName":"2.n"}"#
            let made = try await owner.ask(.post, "/api/organizations", body).json
            organizationID = try #require(made["id"]?.string)
            let list = try await owner.ask(.get, "/api/collections").json["data"]
            collectionID = try #require(list?[0]?["id"]?.string)
            let user = try #require(await owner.upstream.userID(of: colleague.email))
            let member = #"{"key":"4.BBBB","readOnly":\#(isReadOnly)}"#
            let path = "/_faults/members/\(organizationID)/\(user)"
            guard try await owner.ask(.put, path, member).status == .noContent else {
                throw Unexpected(try await owner.ask(.put, path, member))
            }
        }

        func share() async throws -> String {
            let more = #","organizationId":"\#(organizationID)""#
            let body =
                #"{"cipher":\#(Guest.login(more: more)),"collectionIds":["\#(collectionID)"]}"#
            let answer = try await owner.ask(.post, "/api/ciphers/create", body)
            return try #require(answer.json["id"]?.string, "\(answer.text)")
        }
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `a shared item is everybody's, and its folder each one's own`(
        _ personality: Personality
    ) async throws {
        let firm = try await Firm(personality)
        let id = try await firm.share()
        let seen = try await firm.colleague.ask(.get, "/api/sync").json
        #expect(seen["ciphers"]?[0]?["id"]?.string == id)
        #expect(seen["ciphers"]?[0]?["collectionIds"]?[0]?.string == firm.collectionID)
        #expect(seen["collections"]?[0]?["id"]?.string == firm.collectionID)
        #expect(seen["profile"]?["organizations"]?[0]?["key"]?.string == "4.BBBB")
        let favorite = #"{"favorite":true,"folderId":null}"#
        _ = try await firm.colleague.ask(.put, "/api/ciphers/\(id)/partial", favorite)
        #expect(try await firm.colleague.cipher(id)["favorite"]?.bool == true)
        #expect(try await firm.owner.cipher(id)["favorite"]?.bool == false)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `a change of a shared item moves everybody's revision`(
        _ personality: Personality
    ) async throws {
        let firm = try await Firm(personality)
        let id = try await firm.share()
        let before = try await firm.colleague.revisionDate()
        firm.owner.clock.advance(bySeconds: 1)
        let more = #","organizationId":"\#(firm.organizationID)""#
        let changed = try await firm.owner.ask(
            .put,
            "/api/ciphers/\(id)",
            Guest.login(more: more)
        )
        #expect(changed.status == .ok)
        #expect(try await firm.colleague.revisionDate() > before)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `what is done to many shared items at once moves everybody's revision`(
        _ personality: Personality
    ) async throws {
        let firm = try await Firm(personality)
        let id = try await firm.share()
        let ids = #"{"ids":["\#(id)"]}"#
        for (method, path) in [
            (HTTP.Method.put, "/delete"), (.put, "/restore"), (.delete, ""),
        ] {
            let before = try await firm.colleague.revisionDate()
            firm.owner.clock.advance(bySeconds: 1)
            let done = try await firm.owner.ask(method, "/api/ciphers\(path)", ids)
            #expect(done.status == .ok)
            #expect(try await firm.colleague.revisionDate() > before, "\(method) \(path)")
        }
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `a shared item is not written as a personal one`(
        _ personality: Personality
    ) async throws {
        let firm = try await Firm(personality)
        let id = try await firm.share()
        let answer = try await firm.owner.ask(.put, "/api/ciphers/\(id)", Guest.login())
        #expect(answer.status == .badRequest)
        #expect(answer.message?.contains("Organization mismatch") == true)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `who may only read is told so`(_ personality: Personality) async throws {
        let firm = try await Firm(personality, isReadOnly: true)
        let id = try await firm.share()
        let seen = try await firm.colleague.cipher(id)
        #expect(seen["edit"]?.bool == false)
        #expect(seen["permissions"]?["delete"]?.bool == false)
        let more = #","organizationId":"\#(firm.organizationID)""#
        for (method, path, body) in [
            (HTTP.Method.put, "", Guest.login(more: more)), (.put, "/delete", ""),
            (.delete, "", ""),
        ] {
            let answer = try await firm.colleague.ask(method, "/api/ciphers/\(id)\(path)", body)
            #expect(answer.status == .badRequest, "\(method) \(path)")
        }
        #expect(try await firm.owner.cipher(id)["deletedDate"]?.isNull == true)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `who is put out sees nothing any more`(_ personality: Personality) async throws {
        let firm = try await Firm(personality)
        let id = try await firm.share()
        let user = try #require(await firm.owner.upstream.userID(of: firm.colleague.email))
        let before = try await firm.colleague.revisionDate()
        firm.owner.clock.advance(bySeconds: 1)
        _ = try await firm.owner.ask(.delete, "/_faults/members/\(firm.organizationID)/\(user)")
        #expect(try await firm.colleague.revisionDate() > before)
        let answer = try await firm.colleague.ask(.get, "/api/ciphers/\(id)")
        #expect(answer.status == (personality.name == .bitwarden ? .notFound : .badRequest))
        let sync = try await firm.colleague.ask(.get, "/api/sync").json
        #expect(sync["ciphers"]?.array?.count == 0)
        #expect(sync["profile"]?["organizations"]?.array?.count == 0)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `a shared item is put only into collections that there are`(
        _ personality: Personality
    ) async throws {
        let firm = try await Firm(personality)
        let id = try await firm.share()
        for path in ["collections", "collections_v2"] {
            for (collection, isTaken) in [(id, false), (firm.collectionID, true)] {
                let body = #"{"collectionIds":["\#(collection)"]}"#
                let answer = try await firm.owner.ask(.put, "/api/ciphers/\(id)/\(path)", body)
                #expect((answer.status == .ok) == isTaken, "\(answer.text)")
                let seen = try await firm.colleague.ask(.get, "/api/sync").json["ciphers"]
                #expect(seen?[0]?["collectionIds"]?[0]?.string == firm.collectionID)
            }
        }
    }

    @Test func `a personal item is shared by whoever knows its newest copy`() async throws {
        let firm = try await Firm(.bitwarden)
        let id = try await firm.owner.make()
        let known = try #require(try await firm.owner.cipher(id)["revisionDate"]?.string)
        let old = #","organizationId":"\#(firm.organizationID)","lastKnownRevisionDate":"#
        for (date, status) in [("2001-01-01T00:00:00Z", Status.badRequest), (known, .ok)] {
            let cipher = Guest.login(more: old + #""\#(date)""#)
            let body = #"{"cipher":\#(cipher),"collectionIds":["\#(firm.collectionID)"]}"#
            let answer = try await firm.owner.ask(.put, "/api/ciphers/\(id)/share", body)
            #expect(answer.status == status, "\(answer.text)")
        }
        #expect(try await firm.colleague.cipher(id)["id"]?.string == id)
    }
}
