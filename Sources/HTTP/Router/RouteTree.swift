/// Routes by their paths, one step for each segment.
///
/// The tree knows routes by the numbers that they have with whoever asks. Where a literal and a
/// parameter could both follow, the literal is tried first and the parameter after it. So a path costs
/// no more than its length times the few places at which a template has both, which is a matter of the
/// routes and not of who asks.
package struct RouteTree: Sendable {
    private struct Node: Sendable {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var endpoint: Endpoint?
    }

    /// All that can be done at one path.
    package struct Endpoint: Sendable {
        var routes: [(method: Method, route: Int)] = []

        /// The one that was added first.
        package var any: Int? { routes.first?.route }

        subscript(method: Method) -> Int? { routes.first { $0.method == method }?.route }
    }

    package struct Match {
        package let endpoint: Endpoint
        package let values: [String]
    }

    private var nodes = [Node()]

    package init() {}

    package mutating func add(_ route: Int, at template: Template, for method: Method) {
        var place = 0
        for part in template.parts {
            switch part {
            case .literal(let text): place = step(from: place, by: text)
            case .parameter: place = step(from: place)
            }
        }
        var endpoint = nodes[place].endpoint ?? Endpoint()
        precondition(endpoint[method] == nil, "\(method) \(template) is there twice.")
        endpoint.routes.append((method, route))
        nodes[place].endpoint = endpoint
    }

    private mutating func step(from place: Int, by literal: String) -> Int {
        if let next = nodes[place].literals[literal] { return next }
        nodes[place].literals[literal] = nodes.count
        nodes.append(Node())
        return nodes.count - 1
    }

    private mutating func step(from place: Int) -> Int {
        if let next = nodes[place].parameter { return next }
        nodes[place].parameter = nodes.count
        nodes.append(Node())
        return nodes.count - 1
    }

    /// Where a literal does not know the method and the parameter beside it does, the latter is meant.
    package func match(_ segments: [String], for method: Method) -> Match? {
        match(segments) { $0.route(for: method) != nil } ?? match(segments)
    }

    package func match(
        _ segments: [String],
        where fits: (Endpoint) -> Bool = { _ in true }
    ) -> Match? {
        var values: [String] = []
        guard let endpoint = find(segments[...], at: 0, &values, fits) else { return nil }
        return Match(endpoint: endpoint, values: values)
    }

    private func find(
        _ segments: ArraySlice<String>,
        at place: Int,
        _ values: inout [String],
        _ fits: (Endpoint) -> Bool
    ) -> Endpoint? {
        guard let segment = segments.first else {
            return nodes[place].endpoint.flatMap { fits($0) ? $0 : nil }
        }
        if let next = literal(segment, at: place),
            let found = find(segments.dropFirst(), at: next, &values, fits)
        {
            return found
        }
        guard let next = nodes[place].parameter, !segment.isEmpty else { return nil }
        values.append(segment)
        if let found = find(segments.dropFirst(), at: next, &values, fits) { return found }
        values.removeLast()
        return nil
    }

    private func literal(_ segment: String, at place: Int) -> Int? {
        let literals = nodes[place].literals
        return literals.isEmpty ? nil : literals[segment.asciiLowercased]
    }
}

extension String {
    /// Itself, if there is nothing to change.
    fileprivate var asciiLowercased: String {
        utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ? lowercased() : self
    }
}
