public import JSON

/// What a server says when it refuses. The servers differ in everything but this: something of it
/// is for a person to read.
public struct ErrorEnvelope: Sendable, Hashable {
    /// The sentence for a person, if there is one.
    public let message: String?
    /// What is wrong with which field, if the server says it.
    public let validationErrors: [String]
    /// Whether the body has the shape of an API's refusal. A captive portal's has not.
    public let isFromAPI: Bool

    /// Reads the shapes of both servers, the one of the token call (`ErrorModel`, or only a code), the
    /// framework's (`{"error": {"code", "reason", …}}`) and problem details (`title`, `errors`).
    public init(json: JSON.Value) {
        let model = json[anyCase: "errorModel"]
        let framework = json["error"].flatMap { $0.kind == .object ? $0 : nil }
        let errors = json[anyCase: "validationErrors"] ?? json["errors"]
        validationErrors = (errors?.object.map(Array.init) ?? []).flatMap { member in
            member.value.array?.compactMap(\.string) ?? []
        }
        let sentences = [
            validationErrors.first, json[anyCase: "message"]?.string,
            model?[anyCase: "message"]?.string, json["error_description"]?.string,
            framework?["description"]?.string, json["title"]?.string,
            // No sentence, but better than none.
            json["error"]?.string,
        ]
        message = sentences.lazy.compactMap { $0 }.first { !$0.isEmpty }
        isFromAPI =
            json[anyCase: "object"]?.string == "error" || model?.kind == .object
            || framework?["code"]?.int != nil || json["error"]?.string != nil
            || (json["title"]?.string != nil && json["status"]?.int != nil)
    }

    /// Whether the message holds the words, in any case.
    public func says(_ words: String) -> Bool {
        message?.lowercased().contains(words.lowercased()) ?? false
    }
}
