import HTTP
import Vault
import Sync

/// Everything of one kind that the vault holds.
extension VaultAPI {
    static let listRoutes: [Route] = [
        .vault(
            .get,
            "/list/object/items",
            Description("The items of the vault.", query: itemOptions, answer: .list(.item)),
            items
        ),
        .vault(
            .get,
            "/list/object/folders",
            Description("The folders.", query: [.search], answer: .list(.folder))
        ) { call, desk in
            let folders = try await desk.folders().listed(by: nil).map(FolderObject.init)
            guard let search = call.option("search").map(Folded.init(search:)) else {
                return .list(folders + [.none])
            }
            return .list((folders + [.none]).filter { $0.isFound(by: search) })
        },
        .vault(
            .get,
            "/list/object/collections",
            Description(
                "The collections that the account can see.",
                query: [.organization, .search],
                answer: .list(.collection)
            )
        ) { call, desk in
            let owner = call.organizationID?.lowercased()
            let collections = try await desk.collections().filter {
                owner == nil || $0.organizationID.lowercased() == owner
            }
            return .list(collections.listed(by: call.option("search")))
        },
        .vault(
            .get,
            "/list/object/organizations",
            Description(
                "The organizations that the account belongs to.",
                query: [.search],
                answer: .list(.organization)
            )
        ) { call, desk in
            let memberships = try await desk.organizations().listed(by: call.option("search"))
            return .list(memberships.map(OrganizationObject.init))
        },
    ]

    private static let itemOptions: [Option] = [
        .search,
        Option("url", "The address of a site whose logins are wanted."),
        Option("folderid", "A folder's id, `null` for none, `notnull` for any."),
        Option("collectionid", "A collection's id, `null` for none, `notnull` for any."),
        Option("organizationid", "An organization's id, `null` for none, `notnull` for any."),
        .flag("trash", "What is in the trash."),
        .flag("archived", "What is archived."),
    ]

    private static let items: @Sendable (Call, any AccountDesk) async throws -> Response = {
        call,
        desk in
        let selection = Selection(call)
        var items = try await desk.items().filter { selection.includes($0.item.cipher) }
        if let url = call.option("url") {
            let site = SiteMatch(
                url: url,
                equivalents: try await desk.equivalentDomains,
                suffixes: call.api.suffixes
            )
            // Somebody's expressions take their time.
            items = await offTheLoop { [items] in items.filter { site.includes($0.item) } }
        }
        return .list(items.listed(by: call.option("search")), elementSize: 1_024)
    }
}
