/// Finds the handler for a path and a method.
///
/// Paths are matched as users of `bw serve` know it: without regard to case, with or without a slash
/// at the end; decoded before they are compared, never cut again after that. `HEAD` is answered
/// wherever `GET` is, and `OPTIONS` wherever anything is.
public struct Router: Sendable {
    private var tree = RouteTree()
    /// What is done, in the order of ``routes``.
    private var deeds: [Route] = []
    /// All routes, in the order in which they were added.
    public private(set) var routes: [(method: Method, template: Template)] = []

    public init() {}

    public mutating func on(_ method: Method, _ template: String, _ handler: @escaping Handler) {
        add(method, Route(template: Template(template)) { _ in handler })
    }

    /// A route whose parameters are read as the given types, in order.
    ///
    /// ```swift
    /// router.on(.get, "/pages/{number}", Int.self) { request, number in … }
    /// ```
    public mutating func on<each Value: PathValue>(
        _ method: Method,
        _ template: String,
        _ types: repeat (each Value).Type,
        handler: @escaping @Sendable (Request, repeat each Value) async -> Response
    ) {
        let template = Template(template)
        var count = 0
        for _ in repeat each types { count += 1 }
        precondition(count == template.names.count, "\(template) has another number of parameters.")
        add(
            method,
            Route(template: template) { values in
                var reader = SegmentReader(values)
                guard let read = reader.read(repeat each types) else { return nil }
                return { request in await handler(request, repeat each read) }
            }
        )
    }

    private mutating func add(_ method: Method, _ route: Route) {
        tree.add(deeds.count, at: route.template, for: method)
        deeds.append(route)
        routes.append((method, route.template))
    }
}

// MARK: Answering

extension Router {
    public func respond(to request: Request) async -> Response {
        await find(request).respond(request)
    }

    /// What is there for a request: a handler, or the answer that there is none.
    package enum Finding {
        case handler(Handler, [String], Template)
        case answer(Response, Template?)

        var template: Template? {
            switch self {
            case .handler(_, _, let template): template
            case .answer(_, let template): template
            }
        }

        func respond(_ request: Request) async -> Response {
            switch self {
            case .answer(let response, _): return response
            case .handler(let handler, let parameters, _):
                var request = request
                request.parameters = parameters
                return await handler(request)
            }
        }
    }

    /// The template of its path, whatever the method; nil if no route has that path.
    public func template(of request: Request) -> String? { find(request).template?.description }

    /// Whether a handler would be asked.
    public func finds(_ request: Request) -> Bool {
        if case .handler = find(request) { true } else { false }
    }

    package func find(_ request: Request) -> Finding {
        if request.target.isAsterisk { return .answer(.allowing("GET, HEAD, OPTIONS"), nil) }
        guard let match = tree.match(request.target.segments) else {
            return .answer(.plain("Not Found", .notFound), nil)
        }
        guard let route = match.endpoint.route(for: request.method).map({ deeds[$0] }) else {
            let template = match.endpoint.any.map { deeds[$0].template }
            return .answer(match.endpoint.refusal(of: request.method), template)
        }
        guard let handler = route.handler(match.values) else {
            return .answer(.plain("Not Found", .notFound), nil)
        }
        return .handler(handler, match.values, route.template)
    }
}

/// What is done at one path with one method.
struct Route: Sendable {
    let template: Template
    /// `nil` if the values cannot be read as what they should be.
    let handler: @Sendable ([String]) -> Handler?
}

/// Reads segments as the types that a route names.
private struct SegmentReader {
    private var rest: ArraySlice<String>

    private struct Unreadable: Error {}

    init(_ values: [String]) { rest = values[...] }

    mutating func read<each Value: PathValue>(
        _ types: repeat (each Value).Type
    ) -> (repeat each Value)? {
        try? (repeat next(each types))
    }

    private mutating func next<Value: PathValue>(_ type: Value.Type) throws -> Value {
        guard let segment = rest.popFirst(), let value = Value(pathSegment: segment) else {
            throw Unreadable()
        }
        return value
    }
}

extension RouteTree.Endpoint {
    package func route(for method: Method) -> Int? {
        self[method] ?? (method == .head ? self[.get] : nil)
    }

    /// As `bw serve` says it, and with what would have been allowed.
    package func refusal(of method: Method) -> Response {
        if method == .options { return .allowing(allowed) }
        let known: [Method] = [.get, .head, .post, .put, .patch, .delete, .trace, .query]
        var response =
            known.contains(method)
            ? Response.plain("Method Not Allowed", .methodNotAllowed)
            : Response.plain("Not Implemented", .notImplemented)
        response.headers["Allow"] = allowed
        return response
    }

    private var allowed: String {
        var methods = routes.map(\.method.rawValue)
        if self[.get] != nil, self[.head] == nil { methods.append("HEAD") }
        if self[.options] == nil { methods.append("OPTIONS") }
        return methods.joined(separator: ", ")
    }
}

extension Response {
    fileprivate static func allowing(_ methods: String) -> Response {
        Response(headers: ["Allow": methods])
    }
}
