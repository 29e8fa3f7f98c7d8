/// The shape of a path: `/accounts/{id}/object/item/{id}`. A last part `{name...}` takes the rest of
/// the path, if there is any.
public struct Template: Sendable, Hashable, CustomStringConvertible {
    enum Part: Hashable {
        /// In lower case.
        case literal(String)
        case parameter(String)
        case rest(String)
    }

    /// As it was written; what metrics call the route.
    public let description: String
    let parts: [Part]
    package let names: [String]

    package init(_ text: String) {
        precondition(text.hasPrefix("/"), "The template \(text) does not begin with a slash.")
        description = text
        parts = text.split(separator: "/").map(Part.init)
        names = parts.compactMap(\.name)
        precondition(
            parts.dropLast().allSatisfy { if case .rest = $0 { false } else { true } },
            "In \(text), only the last part can take the rest."
        )
    }
}

extension Template.Part {
    fileprivate init(_ text: Substring) {
        guard text.hasPrefix("{"), text.hasSuffix("}") else {
            self = .literal(text.lowercased())
            return
        }
        let name = String(text.dropFirst().dropLast())
        self = name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(name)
    }

    fileprivate var name: String? {
        switch self {
        case .literal: nil
        case .parameter(let name), .rest(let name): name
        }
    }
}
