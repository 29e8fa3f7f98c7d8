internal import JSON
internal import Vault

// Whether the rest of what upstream said is as it was written, and keeps its secrets.

extension Verification {
    mutating func look(at slice: BaseSlice, of userID: String) {
        let owner = slice.id.isEmpty ? "of account \(userID)" : slice.id
        let name = "\(slice.kind.rawValue) \(owner)"
        if slice.isDamaged {
            let text = "The \(name) is not as it was written; the next sync brings it anew."
            return note(.journal, text)
        }
        guard let json = (try? JSON.Document(slice.json))?.root, json.kind == .object else {
            return note(.journal, "What is kept of the \(name) is no JSON object.")
        }
        for place in slice.kind.sealedPlaces where !json.isSealed(at: place) {
            let path = place.joined(separator: ".")
            note(.plaintext, "In the \(name), \(path) is not encrypted.")
        }
    }
}

extension BaseSlice.Kind {
    /// The paths of what only the user may read. An organisation's name is shown to everybody.
    fileprivate var sealedPlaces: [[String]] {
        switch self {
        case .folder, .collection: [["name"]]
        case .send: [["name"], ["notes"], ["key"], ["text", "text"], ["file", "fileName"]]
        case .profile, .organization, .domains, .policy: []
        }
    }
}

extension JSON.Value {
    /// Whether what stands there is an encrypted string, of whichever kind, or says nothing.
    fileprivate func isSealed(at place: [String]) -> Bool {
        var value = self
        for name in place {
            guard value.kind == .object else { return false }
            guard let next = value[anyCase: name], !next.isNull else { return true }
            value = next
        }
        return value.isSealed
    }
}
