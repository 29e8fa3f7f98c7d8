import HTTP
import JSON

extension VaultAPI {
    static let descriptionRoutes: [Route] = [
        .anybody(
            .get,
            "/openapi.json",
            Description("This description.", answer: .document)
        ) { _, _ in
            .json(document)
        }
    ]

    /// Every route but those that only say that there is no such object.
    static let described =
        table.routes.compactMap(DescribedRoute.init) + TokenRoutes.described

    /// The description of the API in the form of OpenAPI, made of the tables that route by it.
    static let document = JSON.Raw.object(capacity: 1 << 17) { document in
        document.add("openapi", "3.1.0")
        document.object("info") {
            $0.add("title", "Holdfast")
            $0.add("version", "1")
            $0.add("summary", "A vault that goes on working while its upstream is away.")
        }
        document.array("servers") { $0.object { $0.add("url", "/") } }
        document.array("security") { $0.object { $0.array("token") { _ in } } }
        document.object("paths") { paths in
            var seen: Set<String> = []
            for template in described.map(\.template) where seen.insert(template).inserted {
                paths.add(
                    template,
                    PathObject(routes: described.filter { $0.template == template })
                )
            }
        }
        document.object("components") { components in
            components.object("securitySchemes") {
                $0.object("token") {
                    $0.add("type", "http")
                    $0.add("scheme", "bearer")
                }
            }
            components.object("schemas") {
                for (name, schema) in Components.schemas { $0.add(name, schema) }
            }
        }
    }
}

/// A request that is answered, and what is said of it.
struct DescribedRoute: Sendable {
    let method: HTTP.Method
    let template: String
    let scope: Caller.Scope
    let description: VaultAPI.Description

    init(
        _ method: HTTP.Method,
        _ template: String,
        _ scope: Caller.Scope,
        _ description: VaultAPI.Description
    ) {
        (self.method, self.template) = (method, template)
        (self.scope, self.description) = (scope, description)
    }

    /// Nil for a route of which nothing is said.
    fileprivate init?(_ route: VaultAPI.Route) {
        guard let description = route.description else { return nil }
        self.init(route.method, route.template, route.scope, description)
    }
}

/// What can be done at a path.
private struct PathObject: JSON.Writable {
    let routes: [DescribedRoute]

    func write(to json: inout JSON.Writer) {
        json.object { path in
            for route in routes {
                path.add(route.method.rawValue.lowercased(), OperationObject(route: route))
            }
        }
    }
}

private struct OperationObject: JSON.Writable {
    let route: DescribedRoute
    private var description: VaultAPI.Description { route.description }

    func write(to json: inout JSON.Writer) {
        json.object { operation in
            operation.add("operationId", name)
            operation.add("summary", description.summary)
            operation.add("description", "Needs the scope `\(route.scope.rawValue)`.")
            operation.array("parameters") { parameters in
                for name in Template(route.template).names {
                    parameters.add(ParameterObject(pathName: name))
                }
                for option in description.query { parameters.add(ParameterObject(option)) }
            }
            if let body = description.body { operation.add("requestBody", BodyObject(body: body)) }
            operation.object("responses") { ResponsesObject(description).write(to: &$0) }
        }
    }

    /// `getAccountsObjectItem`: the method and the literal parts of the path.
    private var name: String {
        let parts = route.template.split { !$0.isLetter && !$0.isNumber }.map { part in
            part.prefix(1).uppercased() + part.dropFirst()
        }
        return route.method.rawValue.lowercased() + parts.joined()
    }
}

private struct ParameterObject: JSON.Writable {
    let name: String
    let place: String
    let schema: Schema
    let summary: String?
    let isRequired: Bool

    init(pathName: String) {
        (name, place, schema, summary, isRequired) = (pathName, "path", .text, nil, true)
    }

    init(_ option: VaultAPI.Option) {
        (name, place, schema) = (option.name, "query", option.schema)
        (summary, isRequired) = (option.summary, option.isRequired)
    }

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("name", name)
            $0.add("in", place)
            $0.add("required", isRequired)
            if let summary { $0.add("description", summary) }
            $0.add("schema", schema)
        }
    }
}

private struct BodyObject: JSON.Writable {
    let body: VaultAPI.Body

    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("required", true)
            object.object("content") { content in
                content.object(mediaType) { $0.add("schema", schema) }
            }
        }
    }

    private var mediaType: String {
        switch body {
        case .json: "application/json"
        case .file: "multipart/form-data"
        }
    }

    private var schema: Schema {
        switch body {
        case .json(let schema): schema
        case .file: .object([.init("file", .bytes)])
        }
    }
}

/// All that a route may answer.
private struct ResponsesObject {
    private let description: VaultAPI.Description

    init(_ description: VaultAPI.Description) {
        self.description = description
    }

    func write(to object: inout JSON.ObjectWriter) {
        object.object("200") { success in
            success.add("description", "It was done.")
            if description.isEdit {
                success.object("headers") {
                    $0.add("Holdfast-Disposition", HeaderObject(.word(["saved", "queued"])))
                    $0.add("Holdfast-Receipt", HeaderObject(.text))
                }
            }
            success.object("content") { content in
                content.object(mediaType) { $0.add("schema", schema) }
            }
        }
        for (status, text) in Self.failures { write(failure: status, text, to: &object) }
    }

    private static let failures = [
        ("400", "It was not done, and why."), ("401", "There is no valid token."),
        ("403", "The token does not allow it."), ("405", "Not with this method."),
        ("413", "The body is too large."), ("429", "Too many attempts."),
        ("503", "The host has too much to do."), ("507", "There is no room for another change."),
    ]

    private func write(
        failure status: String,
        _ text: String,
        to object: inout JSON.ObjectWriter
    ) {
        object.object(status) { answer in
            answer.add("description", text)
            answer.object("content") { content in
                content.object("application/json") { $0.add("schema", Schema.failure) }
                content.object("text/plain") { $0.add("schema", Schema.text) }
            }
        }
    }

    private var mediaType: String {
        switch description.answer {
        case .bytes: "application/octet-stream"
        case .events: "text/event-stream"
        case .nothing, .data, .rest, .list, .string, .document: "application/json"
        }
    }

    private var schema: Schema {
        switch description.answer {
        case .nothing: .object([success])
        case .data(let data): .object([success, .init("data", data)])
        case .rest(let data): .object([success, .maybe("data", data)])
        case .list(let element):
            .object([
                success,
                .init(
                    "data",
                    .object([.init("object", .constant("list")), .init("data", .list(element))])
                ),
            ])
        case .string: .object([success, .init("data", .string)])
        case .bytes, .events: .text
        case .document: .object([])
        }
    }

    private var success: Schema.Property { .init("success", .flag) }
}

private struct HeaderObject: JSON.Writable {
    let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
    }

    func write(to json: inout JSON.Writer) {
        json.object { $0.add("schema", schema) }
    }
}
