import HTTP

extension DefaultStringInterpolation {
    /// One segment of a path, whatever is in it: what another host calls an id must not lead
    /// elsewhere.
    mutating func appendInterpolation(segment: String) {
        // Dots alone would be taken for a way up.
        switch segment {
        case ".": appendLiteral("%2E")
        case "..": appendLiteral("%2E%2E")
        default: appendLiteral(Percent.encode(segment))
        }
    }
}
