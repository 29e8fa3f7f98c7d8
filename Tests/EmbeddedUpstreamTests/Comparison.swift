import JSON

/// Holds our answer against the recorded one: status and structure, types, and what the values mean.
/// Ids, dates and tokens are other ones here; which of ours stands for which of theirs is learnt when
/// it is first seen, and must hold from then on.
struct Comparison {
    /// Theirs to ours.
    private(set) var names: [String: String] = [:]
    private(set) var findings: [String] = []

    mutating func learn(_ theirs: String, _ ours: String) { names[theirs] = ours }

    /// The text with their names replaced by ours.
    func translated(_ text: String) -> String {
        var text = text
        for (theirs, ours) in names where text.contains(theirs) {
            text = text.replacing(theirs, with: ours)
        }
        return text
    }

    mutating func compare(_ theirs: JSON.Value, _ ours: JSON.Value, _ path: String) {
        switch (theirs.kind, ours.kind) {
        case (.object, .object): compareMembers(theirs, ours, path)
        case (.array, .array): compareElements(theirs, ours, path)
        case (.string, .string):
            compareTexts(theirs.string ?? "", ours.string ?? "", path)
        case (let one, let other) where one != other:
            findings.append("\(path): \(other) instead of \(one)")
        default:
            if theirs.raw != ours.raw { findings.append("\(path): another value") }
        }
    }

    private mutating func compareMembers(_ theirs: JSON.Value, _ ours: JSON.Value, _ path: String) {
        let known = Set(theirs.object?.map(\.name.string) ?? [])
        for member in theirs.object.map(Array.init) ?? [] {
            let name = member.name.string
            guard let value = ours[name] else {
                findings.append("\(path).\(name): missing")
                continue
            }
            compare(member.value, value, "\(path).\(name)")
        }
        for member in ours.object.map(Array.init) ?? [] where !known.contains(member.name.string) {
            findings.append("\(path).\(member.name.string): added")
        }
    }

    private mutating func compareElements(_ theirs: JSON.Value, _ ours: JSON.Value, _ path: String)
    {
        let (one, other) = (Array(theirs.array!), Array(ours.array!))
        if one.count != other.count {
            findings.append("\(path): \(other.count) elements instead of \(one.count)")
            return
        }
        for (index, element) in one.enumerated() {
            // Lists are in the order of ids, which are other ones here.
            let wanted = element["id"]?.string.flatMap { names[$0] }
            let match =
                other.first { wanted != nil && $0["id"]?.string == wanted }
                ?? other.first { $0["name"] != nil && $0["name"]?.raw == element["name"]?.raw }
            compare(element, match ?? other[index], "\(path)[]")
        }
    }

    private mutating func compareTexts(_ theirs: String, _ ours: String, _ path: String) {
        if theirs == "<blanked>" { return }
        if let known = names[theirs] {
            if known != ours { findings.append("\(path): another than before") }
            return
        }
        if let shape = NameShape(theirs) {
            guard shape == NameShape(ours) else {
                findings.append("\(path): no \(shape)")
                return
            }
            learn(theirs, ours)
            return
        }
        let plain = translated(theirs.replacing("http://127.0.0.1:8222", with: "http://localhost"))
            .replacing(/token=.*/, with: "token=")
        if plain != ours.replacing(/token=.*/, with: "token=") {
            findings.append("\(path): another text")
        }
    }

    /// What has been found since the last time.
    mutating func take() -> Set<String> {
        defer { findings = [] }
        return Set(findings)
    }
}

/// Texts that are names of something, and so other ones in every run.
private enum NameShape {
    case uuid
    case stamp
    case fileID
    case secret

    init?(_ text: String) {
        if text.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil {
            self = .uuid
        } else if text.wholeMatch(of: /20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6}Z/) != nil {
            // Dates that a client wrote stay as they are.
            if text.hasPrefix("2024") { return nil }
            self = .stamp
        } else if text.wholeMatch(of: /[0-9a-f]{20}/) != nil {
            self = .fileID
        } else if text.wholeMatch(of: /[A-Za-z0-9]{30}/) != nil {
            self = .secret
        } else {
            return nil
        }
    }
}
