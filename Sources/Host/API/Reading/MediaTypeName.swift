/// What a body is declared to be: `multipart/form-data; boundary=x`.
struct MediaTypeName {
    let name: String
    private let parameters: [(name: String, value: String)]

    init(_ text: String) {
        let end = text.firstIndex(of: ";") ?? text.endIndex
        name = text[..<end].lowercased().filter { $0 != " " && $0 != "\t" }
        parameters = Self.parameters(text[end...])
    }

    var isJSON: Bool {
        guard name.hasPrefix("application/") else { return false }
        return name == "application/json" || name == "application/csp-report"
            || name.hasSuffix("+json")
    }

    var isForm: Bool { name == "application/x-www-form-urlencoded" }

    /// A parameter, its quotation marks taken off.
    subscript(parameter: String) -> String? {
        parameters.first { $0.name == parameter }?.value
    }

    /// Between quotation marks anything may stand. A backslash escapes a mark or a backslash after it, and is
    /// a plain letter elsewhere, as in the paths that some clients send. Read scalar by scalar, because a
    /// combining mark behind a quotation mark makes another character of it.
    private static func parameters(_ text: Substring) -> [(name: String, value: String)] {
        var rest = text.unicodeScalars
        var found: [(name: String, value: String)] = []
        while let start = rest.firstIndex(where: { $0 != ";" && $0 != " " && $0 != "\t" }) {
            rest = rest[start...]
            let end = rest.firstIndex { $0 == "=" || $0 == ";" } ?? rest.endIndex
            let name = String(rest[..<end]).lowercased().filter { $0 != " " && $0 != "\t" }
            rest = rest[end...]
            guard rest.popFirst() == "=" else { continue }
            found.append((name, value(&rest)))
        }
        return found
    }

    private static func value(_ rest: inout Substring.UnicodeScalarView) -> String {
        while rest.first == " " { rest.removeFirst() }
        guard rest.first == "\"" else {
            let end = rest.firstIndex(of: ";") ?? rest.endIndex
            var value = rest[..<end]
            while value.last == " " { value.removeLast() }
            rest = rest[end...]
            return String(value)
        }
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            let isEscape = scalar == "\\" && (rest.first == "\"" || rest.first == "\\")
            value.append(isEscape ? rest.removeFirst() : scalar)
        }
        rest = rest[(rest.firstIndex(of: ";") ?? rest.endIndex)...]
        return String(value)
    }
}
