import Bitwarden
import HTTP
import JSON
import Vault

/// What an account shares with others. What only an organization's admins may do is left to
/// official clients, and refused in the words of `bw serve`.
extension VaultAPI {
    static let organizationRoutes: [Route] =
        [
            .vault(
                .get,
                "/object/collection/{id}",
                Description("A collection, by its id or a search.", answer: .data(.collection))
            ) { call, desk in
                .success(try await desk.collections().one(by: call.id))
            },
            .vault(
                .get,
                "/object/organization/{id}",
                Description("An organization, by its id or a search.", answer: .data(.organization))
            ) { call, desk in
                .success(
                    OrganizationObject(membership: try await desk.organizations().one(by: call.id))
                )
            },
            .vault(
                .put,
                "/object/item-collections/{id}",
                Description(
                    "Puts an organization's item into other collections.",
                    body: .json(.list(.text)),
                    answer: .data(.item),
                    isEdit: true
                )
            ) { call, desk in
                let item = try await desk.knownItem(call.id)
                guard item.cipher.organizationID != nil else {
                    throw DeskRefusal.notAllowed(
                        "Item does not belong to an organization. Consider moving it first."
                    )
                }
                let collections = try await call.collectionIDs()
                let id = call.id.lowercased()
                return .success(try await desk.setCollections(of: id, to: collections)).with(.saved)
            },
            .vault(
                .post,
                "/move/{id}/{organizationId}",
                Description(
                    "Gives an item to an organization.",
                    body: .json(.list(.text)),
                    answer: .data(.item),
                    isEdit: true
                )
            ) { call, desk in
                let (id, owner) = (call.values[0].lowercased(), call.values[1].lowercased())
                let item = try await desk.knownItem(id)
                guard item.cipher.organizationID == nil else {
                    throw DeskRefusal.notAllowed("This item already belongs to an organization.")
                }
                let collections = try await call.collectionIDs()
                _ = try await desk.membership(owner)
                let moved = try await desk.share(id, with: owner, in: collections)
                return .success(moved).with(.saved)
            },
        ] + adminRoutes

    private static let adminRoutes: [Route] = [
        admin(.get, "/list/object/org-collections", "All collections of an organization."),
        admin(.get, "/list/object/org-members", "The members of an organization."),
        admin(.get, "/object/org-collection/{id}", "A collection with who may use it."),
        admin(.post, "/object/org-collection", "Makes a collection.", takesBody: true),
        admin(.put, "/object/org-collection/{id}", "Changes a collection.", takesBody: true),
        admin(.delete, "/object/org-collection/{id}", "Deletes a collection."),
        admin(.post, "/confirm/org-member/{id}", "Confirms a member."),
    ]

    /// Says first what is wrong with the request, as `bw serve` does.
    private static func admin(
        _ method: Method,
        _ path: String,
        _ summary: String,
        takesBody: Bool = false
    ) -> Route {
        let isConfirmation = path.hasPrefix("/confirm")
        return .vault(
            method,
            path,
            Description(
                summary + " It is for admins, and not done here.",
                query: [.owner],
                body: takesBody ? .json(.any) : nil,
                answer: .nothing
            )
        ) { call, desk in
            guard let owner = call.organizationID else {
                throw DeskRefusal.notAllowed(
                    isConfirmation
                        ? "--organizationid <organizationid> required."
                        : "`organizationid` option is required."
                )
            }
            try call.requireIdentifiers([owner] + call.values)
            if takesBody, let other = try await call.json().root["organizationId"]?.string,
                other.lowercased() != owner.lowercased()
            {
                throw DeskRefusal.notAllowed(
                    "`organizationid` option does not match request object."
                )
            }
            _ = try await desk.membership(owner)
            throw DeskRefusal.notAllowed(
                "Organizations are managed with an official client; this host does not do it."
            )
        }
    }
}

extension VaultAPI.Call {
    /// A bare array, or one in a member of the name that the published description gives it.
    fileprivate func collectionIDs() async throws -> [String] {
        let body = try await json()
        let list = (body.root["array"] ?? body.root).array.map { Array($0) } ?? []
        guard !list.isEmpty else {
            throw DeskRefusal.notAllowed(
                "You must provide at least one collection id for this item."
            )
        }
        let ids = list.compactMap(\.string)
        guard ids.count == list.count else {
            throw DeskRefusal.notAllowed("A collection id must be a string.")
        }
        return ids.asIdentifiers
    }

    fileprivate func requireIdentifiers(_ texts: [String]) throws {
        for text in texts where !text.isIdentifier {
            throw DeskRefusal.notAllowed("`\(text)` is not a GUID.")
        }
    }
}

extension AccountDesk {
    fileprivate func membership(_ id: String) async throws -> Membership {
        let known = try await organizations().first {
            $0.organizationID.lowercased() == id.lowercased()
        }
        guard let known else { throw DeskRefusal.notAllowed("Organization not found.") }
        return known
    }
}
