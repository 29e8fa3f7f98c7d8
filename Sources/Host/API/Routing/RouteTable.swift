import HTTP

extension VaultAPI {
    static let table = RouteTable(routes)

    /// In the order of the description.
    static let routes: [Route] =
        stateRoutes + generatorRoutes + listRoutes + itemRoutes + valueRoutes + attachmentRoutes
        + folderRoutes + organizationRoutes + sendRoutes + templateRoutes + queueRoutes
        + eventRoutes + networkRoutes + accountRoutes + checkRoutes + descriptionRoutes
        + unknownObjectRoutes

    /// `bw serve` knows these paths for whatever object, and has its own words for one that it does not know. An
    /// object that does not have the method is answered likewise.
    static let unknownObjectRoutes: [Route] = [
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
    private var tree = RouteTree()
    private(set) var routes: [VaultAPI.Route] = []

    init(_ routes: [VaultAPI.Route]) {
        for route in routes {
            add(route)
            if route.isOfAnAccount { add(route.belowAccount) }
        }
    }

    private mutating func add(_ route: VaultAPI.Route) {
        tree.add(routes.count, at: Template(route.template), for: route.method)
        routes.append(route)
    }

    /// What is there for a request.
    func find(_ method: Method, _ target: Target) -> Finding {
        guard !target.isAsterisk, let match = tree.match(target.segments, for: method) else {
            return .nothing
        }
        guard let number = match.endpoint.route(for: method) else {
            let other = match.endpoint.any.map { routes[$0] }
            return .noMethod(match.endpoint.refusal(of: method), other)
        }
        return .route(routes[number], match.values)
    }

    enum Finding: Sendable {
        /// With what the path holds where the template has names.
        case route(VaultAPI.Route, [String])
        /// The path is there, the method is not; with a route that has the same path.
        case noMethod(Response, VaultAPI.Route?)
        case nothing
    }
}
