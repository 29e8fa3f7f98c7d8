import HTTP

extension VaultAPI {
    static let table = RouteTable(routes)

    /// In the order of the description.
    static let routes: [Route] =
        stateRoutes + generatorRoutes + listRoutes + itemRoutes + valueRoutes + attachmentRoutes
        + folderRoutes + organizationRoutes + sendRoutes + templateRoutes + queueRoutes
        + eventRoutes + networkRoutes + accountRoutes + descriptionRoutes + unknownObjectRoutes

    /// `bw serve` knows these paths for whatever object, and says so in its own words.
    private static let unknownObjectRoutes: [Route] = [
        (Method.get, "/object/{object}/{id}"), (.put, "/object/{object}/{id}"),
        (.delete, "/object/{object}/{id}"), (.post, "/object/{object}"),
        (.get, "/list/object/{object}"), (.post, "/restore/{object}/{id}"),
        (.post, "/archive/{object}/{id}"), (.post, "/confirm/{object}/{id}"),
    ].map { method, path in
        .vault(method, path, nil) { _, _ in throw DeskRefusal.notAllowed("Unknown object.") }
    }
}

/// All routes, to be found by a path.
struct RouteTable: Sendable {
    private var tree = RouteTree<VaultAPI.Route>()
    private(set) var routes: [VaultAPI.Route] = []

    init(_ routes: [VaultAPI.Route]) {
        for route in routes {
            add(route)
            if route.isOfAnAccount { add(route.belowAccount) }
        }
    }

    private mutating func add(_ route: VaultAPI.Route) {
        tree.add(route, at: Template(route.template), for: route.method)
        routes.append(route)
    }

    func match(_ target: Target) -> RouteTree<VaultAPI.Route>.Match? {
        target.isAsterisk ? nil : tree.match(target.segments)
    }

    var templates: [String] {
        var seen: Set<String> = []
        return routes.map(\.template).filter { seen.insert($0).inserted }
    }
}
