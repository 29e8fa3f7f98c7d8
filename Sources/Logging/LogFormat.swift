/// How lines are written.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `2026-11-21T10:57:07.123Z notice  Listening. address=127.0.0.1:8087`
    case text
    /// For programs: one JSON object on each line, with `time`, `level`, `message` and the fields.
    case json
}
