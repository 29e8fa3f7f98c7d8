extension JSON {
    /// The way from a value to one inside it.
    ///
    /// ```swift
    /// let path: JSON.Path = ["login", "uris", 0, "uri"]
    /// ```
    public struct Path: Hashable, Sendable {
        public var steps: [Step]

        public init(_ steps: [Step] = []) {
            self.steps = steps
        }
    }

    public enum Step: Hashable, Sendable {
        case member(String)
        case element(Int)
    }
}

extension JSON.Path: ExpressibleByArrayLiteral {
    public init(arrayLiteral steps: JSON.Step...) {
        self.steps = steps
    }
}

extension JSON.Step: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral name: String) { self = .member(name) }
    public init(integerLiteral position: Int) { self = .element(position) }
}

/// As one would write it in code: `login.uris[0].uri`.
extension JSON.Path: CustomStringConvertible {
    public var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .member(let name): text += text.isEmpty ? name : "." + name
            case .element(let position): text += "[\(position)]"
            }
        }
    }
}
