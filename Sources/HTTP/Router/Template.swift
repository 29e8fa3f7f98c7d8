/// The shape of a path: `/accounts/{id}/object/item/{id}`.
public struct Template: Sendable, Hashable, CustomStringConvertible {
    enum Part: Hashable {
        /// In lower case.
        case literal(String)
        case parameter(String)
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
    }
}

extension Template.Part {
    fileprivate init(_ text: Substring) {
        guard text.hasPrefix("{"), text.hasSuffix("}") else {
            self = .literal(text.lowercased())
            return
        }
        self = .parameter(String(text.dropFirst().dropLast()))
    }

    fileprivate var name: String? {
        switch self {
        case .literal: nil
        case .parameter(let name): name
        }
    }
}
