/// What a body is declared to be: `multipart/form-data; boundary=x`.
struct MediaTypeName {
    let name: String
    private let rest: Substring

    init(_ text: String) {
        let end = text.firstIndex(of: ";") ?? text.endIndex
        name = text[..<end].lowercased().filter { $0 != " " && $0 != "\t" }
        rest = text[end...].dropFirst()
    }

    var isJSON: Bool {
        name == "application/json" || (name.hasPrefix("application/") && name.hasSuffix("+json"))
    }

    /// A parameter, its quotation marks taken off.
    subscript(parameter: String) -> String? {
        for part in rest.split(separator: ";") {
            let middle = part.firstIndex(of: "=") ?? part.endIndex
            guard part[..<middle].lowercased().filter({ $0 != " " }) == parameter else { continue }
            var value = part[middle...].dropFirst()
            while value.first == " " { value.removeFirst() }
            while value.last == " " { value.removeLast() }
            if value.count >= 2, value.first == "\"", value.last == "\"" {
                value = value.dropFirst().dropLast()
            }
            return String(value)
        }
        return nil
    }
}
