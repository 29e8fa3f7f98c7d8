import Bitwarden
import JSON

/// In whose language an answer is written, which says who gave it.
///
/// Only what is needed is looked at: of a success whether it is JSON at all, of everything else who
/// words errors so.
enum Tongue: Hashable, Sendable {
    /// An error as the API itself words it.
    case api(ErrorEnvelope)
    /// An error of the framework under the server (a route that does not exist, a body it cannot
    /// read): the server, if not the API.
    case framework(ErrorEnvelope)
    /// JSON, of an unknown author.
    case json
    /// A page for people.
    case page
    case text
    case nothing
}

extension Tongue {
    /// What an answer that claims success is written in. Its JSON is read later, by who wants it.
    init(ofSuccess body: some Collection<UInt8>, type: String?) {
        guard let first = body.first(where: { !$0.isBlank }) else {
            self = .nothing
            return
        }
        let type = MediaType(type)
        if type == .html || (type == .none && first == UInt8(ascii: "<")) {
            self = .page
        } else if type == .json || (type == .none && first.beginsJSON) {
            self = .json
        } else {
            self = first.beginsJSON && type == .text ? .json : .text
        }
    }

    init(ofError body: [UInt8], type: String?) {
        let tongue = Tongue(ofSuccess: body, type: type)
        guard tongue == .json else {
            self = tongue
            return
        }
        guard let document = try? JSON.Document(body) else {
            self = .text
            return
        }
        self = Tongue(of: document.root)
    }

    private init(of error: JSON.Value) {
        let envelope = ErrorEnvelope(json: error)
        let isFramework = error["error"]?.kind == .object || error["title"]?.string != nil
        if envelope.isFromAPI {
            self = isFramework ? .framework(envelope) : .api(envelope)
        } else {
            self = .json
        }
    }
}

/// What a content type says, as far as it tells who answers.
private enum MediaType: Equatable {
    case json, html, text, other, none

    init(_ field: String?) {
        guard let field, !field.isEmpty else {
            self = .none
            return
        }
        // Nearly all say this, and a search costs more than all the rest of the judgement.
        if field.hasPrefix("application/json") {
            self = .json
            return
        }
        let type = field.prefix { $0 != ";" }.lowercased()
        if type.contains("json") {
            self = .json
        } else if type.contains("html") {
            self = .html
        } else {
            self = type.contains("text/") ? .text : .other
        }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    fileprivate var beginsJSON: Bool {
        switch self {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"): true
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"), 0x30...0x39: true
        default: false
        }
    }
}
