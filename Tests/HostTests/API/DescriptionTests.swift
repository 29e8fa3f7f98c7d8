import HTTP
import JSON
import Testing

@testable import Host

/// The description of the API, and whether it says the truth.
@Suite(.timeLimit(.minutes(1)))
struct DescriptionTests {
    /// Both ways: nothing is answered of which nothing is said, and nothing is said of what is not there.
    @Test func `what is described is what is answered`() async throws {
        try await HostVenue().open { guest async throws in
            let reply = try await guest.get("/openapi.json")
            #expect(reply.headers["Content-Type"] == "application/json; charset=utf-8")
            let path = "/accounts/\(guest.stage.userID)/openapi.json"
            #expect(try await guest.get(path).body == reply.body)
            let document = try #require(reply.json)
            #expect(document["openapi"]?.string == "3.1.0")
            let paths = try #require(document["paths"]?.object)
            let described = paths.flatMap { path in
                (path.value.object.map(Array.init) ?? []).map { operation in
                    "\(operation.name.string.uppercased()) \(path.name.string)"
                }
            }
            let silent = RouteTable(VaultAPI.unknownObjectRoutes).routes.map { route in
                "\(route.method) \(route.template)"
            }
            let answered = Set(guest.routes.map { "\($0.method) \($0.template)" })
                .subtracting(silent)
            #expect(Set(described).subtracting(answered) == [], "described, but not there")
            #expect(answered.subtracting(described) == [], "there, but not described")
            #expect(described.count == answered.count)
            #expect(answered.isSuperset(of: ["GET /verify", "GET /tokens", "DELETE /tokens/{id}"]))
        }
    }

    @Test func `what the gate makes and what the check finds are as they are described`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let order = #"{"scope":"read","account":"\#(guest.stage.userID)"}"#
            let reply = try await guest.post("/tokens", order)
            let fresh = try #require(reply.data, "\(reply.text)")
            let listed = try #require(try await guest.get("/tokens").elements.last)
            let report = try #require(try await guest.get("/verify").data)
            #expect(report["whole"]?.bool == true)
            for (name, value) in [
                ("FreshToken", fresh), ("Token", listed), ("Verification", report),
            ] {
                let schema = Components.schemas.first { $0.name == name }?.schema
                guard case .object(let properties) = schema else {
                    Issue.record("It is something else.")
                    return
                }
                let shown = value.object.map { $0.map(\.name.string) } ?? []
                #expect(Set(shown) == Set(properties.map(\.name)), "\(name)")
            }
            #expect(try await guest.send(.post, "/verify").status == .methodNotAllowed)
        }
    }

    @Test func `every route of the contract is described`() throws {
        let described = Set(
            VaultAPI.table.routes.filter { $0.description != nil }
                .map { "\($0.method) \($0.template)" }
        )
        for route in Self.contract {
            #expect(described.contains(route), "\(route)")
            let (method, path) = (route.prefix { $0 != " " }, route.drop { $0 != " " }.dropFirst())
            #expect(described.contains("\(method) /accounts/{accountId}\(path)"), "\(route)")
        }
    }

    /// What every reference leads to is there, and no name is used twice.
    @Test func `the description holds together`() throws {
        let text = String(decoding: VaultAPI.document.bytes, as: UTF8.self)
        let names = Components.schemas.map(\.name)
        #expect(Set(names).count == names.count)
        let references = text.matches(of: /#\/components\/schemas\/(\w+)/).map { String($0.1) }
        #expect(Set(references).subtracting(names).isEmpty)
        #expect(Set(names).subtracting(references).isEmpty)
        let operations = text.matches(of: /"operationId":"(\w+)"/).map { String($0.1) }
        #expect(operations.count > 100)
        #expect(Set(operations).count == operations.count)
    }

    /// Members of an answer that the description does not know, or that it promises and that are
    /// not there.
    @Test func `an item is as it is described`() async throws {
        try await StillVenue().open { guest async throws in
            for sample in Sample.all {
                let id = try await guest.make(sample)
                let item = try #require(try await guest.get("/object/item/\(id)").data?.object)
                let shown = Set(item.map(\.name.string))
                let schema = Components.schemas.first { $0.name == "Item" }?.schema
                guard case .object(let properties) = schema else {
                    Issue.record("It is something else.")
                    return
                }
                #expect(shown.isSubset(of: properties.map(\.name)))
                #expect(Set(properties.filter(\.isRequired).map(\.name)).isSubset(of: shown))
            }
        }
    }

    @Test
    func `a new item has a type and a name, an edit may leave out both, and a send may not open`() {
        func properties(_ name: String) -> [Schema.Property] {
            let schema = Components.schemas.first { $0.name == name }?.schema
            guard case .object(let properties) = schema else { return [] }
            return properties
        }
        #expect(properties("NewItem").filter(\.isRequired).map(\.name) == ["type", "name"])
        #expect(properties("ItemBody").filter(\.isRequired).isEmpty)
        for name in ["accessUrl", "key"] {
            guard case .optional = properties("Send").first(where: { $0.name == name })?.schema
            else {
                Issue.record("\(name) is always a text.")
                continue
            }
        }
    }

    private static let contract = [
        "GET /status", "POST /unlock", "POST /lock", "POST /sync", "GET /generate",
        "GET /list/object/items", "GET /list/object/folders", "GET /list/object/collections",
        "GET /list/object/org-collections", "GET /list/object/org-members",
        "GET /list/object/organizations", "GET /list/object/send", "GET /send/list",
        "GET /object/item/{id}", "GET /object/username/{id}", "GET /object/password/{id}",
        "GET /object/uri/{id}", "GET /object/totp/{id}", "GET /object/notes/{id}",
        "GET /object/exposed/{id}", "GET /object/attachment/{id}", "GET /object/folder/{id}",
        "GET /object/collection/{id}", "GET /object/org-collection/{id}",
        "GET /object/organization/{id}", "GET /object/template/{name}",
        "GET /object/fingerprint/{id}", "GET /object/send/{id}", "POST /object/item",
        "POST /object/folder", "POST /object/org-collection", "POST /object/send",
        "POST /attachment", "PUT /object/item/{id}", "PUT /object/item-collections/{id}",
        "PUT /object/folder/{id}", "PUT /object/org-collection/{id}", "PUT /object/send/{id}",
        "DELETE /object/item/{id}", "DELETE /object/attachment/{id}",
        "DELETE /object/folder/{id}", "DELETE /object/org-collection/{id}",
        "DELETE /object/send/{id}", "POST /restore/item/{id}", "POST /archive/item/{id}",
        "POST /move/{id}/{organizationId}", "POST /confirm/org-member/{id}",
        "POST /send/{id}/remove-password", "GET /pending", "GET /pending/{id}",
        "POST /pending/{id}/retry", "POST /pending/{id}/save-copy", "DELETE /pending/{id}",
        "GET /receipts/{id}", "GET /resolutions", "GET /events", "GET /network", "PUT /network",
    ]
}
