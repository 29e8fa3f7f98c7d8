import HTTP
import JSON
import System
import Testing

@testable import Host

/// The description of the API, and whether it says the truth.
@Suite(.timeLimit(.minutes(1)))
struct DescriptionTests {
    @Test(arguments: Venue.allCases)
    func `everything that is described is there`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let reply = try await guest.get("/openapi.json")
            #expect(reply.headers["Content-Type"] == "application/json; charset=utf-8")
            let document = try #require(reply.json)
            #expect(document["openapi"]?.string == "3.1.0")
            let paths = try #require(document["paths"]?.object)
            var count = 0
            for path in paths {
                for operation in try #require(path.value.object) {
                    let method = HTTP.Method(rawValue: operation.name.string.uppercased())
                    let target = try #require(Target(path.name.string.replacing(/[{}]/, with: "")))
                    let template = VaultAPI.template(for: method, target)
                    #expect(template == path.name.string)
                    count += 1
                }
            }
            #expect(count > 100)
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
                guard case .object(let properties) = schema else { return }
                #expect(shown.isSubset(of: properties.map(\.name)))
                #expect(Set(properties.filter(\.isRequired).map(\.name)).isSubset(of: shown))
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
