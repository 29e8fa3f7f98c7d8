/// What must not stand in the text formats as it is.
enum Escape {
    static func labelValue(_ text: String) -> String {
        escaped(text, quotes: true)
    }

    /// In plain Prometheus text a quote in a help text stays as it is; an escaped one would be
    /// shown with its backslash.
    static func help(_ text: String, in format: ExpositionFormat) -> String {
        escaped(text, quotes: format == .openMetrics)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
