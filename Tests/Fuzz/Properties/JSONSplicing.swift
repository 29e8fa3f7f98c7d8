import JSON
import System

/// Edits do to the text what they do to its meaning, and touch no other byte.
///
/// What is edited is decided by all the bytes, so that every mutation of a text is edited otherwise.
public struct JSONSplicing: Property {
    public init() {}

    public func violation(by bytes: [UInt8]) -> String? {
        guard let document = try? JSON.Document(bytes) else { return nil }
        let seed = bytes.reduce(UInt64(bytes.count)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let chance = SeededChance(seed: seed)
        return oneEdit(of: document, chance) ?? manyEdits(of: document, chance)
    }

    private func oneEdit(of document: JSON.Document, _ chance: SeededChance) -> String? {
        var edit = JSON.Edit(document)
        guard edit.bytes == document.bytes else { return "Nothing was edited, but bytes changed." }
        var meaning = Meaning(document.root)
        let change = Change(for: meaning, chance)
        let isDone = change.apply(to: &edit)
        guard change.apply(to: &meaning) == isDone else { return "\(change.name) surprises." }
        if !isDone && edit.bytes != document.bytes { return "A refused change left a trace." }
        if isDone && !change.isConfined(from: document, to: edit.bytes) {
            return "\(change.name) changed other bytes."
        }
        return violation(of: edit, meaning)
    }

    private func manyEdits(of document: JSON.Document, _ chance: SeededChance) -> String? {
        var edit = JSON.Edit(document)
        var meaning = Meaning(document.root)
        for _ in 0..<chance.number(in: 1..<8) {
            let change = Change(for: meaning, chance)
            guard change.apply(to: &edit) == change.apply(to: &meaning) else {
                return "\(change.name) surprises among others."
            }
        }
        return violation(of: edit, meaning)
    }

    private func violation(of edit: JSON.Edit, _ meaning: Meaning) -> String? {
        guard let edited = try? JSON.Document(edit.bytes) else {
            return "What was edited cannot be read."
        }
        return Meaning(edited.root) == meaning ? nil : "The edited text says something else."
    }
}

private struct Change {
    enum Kind: CaseIterable {
        case set, remove
    }

    let kind: Kind
    let path: JSON.Path
    let value: JSON.Raw

    /// One that often, but not always, can be done.
    init(for meaning: Meaning, _ chance: SeededChance) {
        kind = Kind.allCases[chance.number(in: 0..<Kind.allCases.count)]
        path = meaning.path(chance)
        value = Self.values[chance.number(in: 0..<Self.values.count)]
    }

    var name: String { "\(kind)" }

    /// Whether only those bytes changed that had to.
    func isConfined(from document: JSON.Document, to edited: [UInt8]) -> Bool {
        let bytes = document.bytes
        if kind == .set, let target = document.root.at(path) {
            let range = target.raw.range
            var expected = Array(bytes[..<range.lowerBound])
            expected += value.bytes
            expected += bytes[range.upperBound...]
            return edited == expected
        }
        // What is made in place of null replaces it, and members with the same name all go.
        if document.root.hasNull(on: path) || kind == .remove && path.endsInMember { return true }
        let prefix = zip(bytes, edited).prefix { $0 == $1 }.count
        let suffix = zip(bytes.reversed(), edited.reversed()).prefix { $0 == $1 }.count
        return prefix + suffix >= min(bytes.count, edited.count)
    }

    private static let values: [JSON.Raw] = [
        .null, true, -1, "", "\u{2028}\"\\\u{1}", .object { $0.add("a", 1) },
        .array { $0.add("é") },
    ]

    func apply(to edit: inout JSON.Edit) -> Bool {
        do {
            switch kind {
            case .set: try edit.set(path, to: value)
            case .remove: return edit.remove(path)
            }
            return true
        } catch {
            return false
        }
    }

    func apply(to meaning: inout Meaning) -> Bool {
        guard let document = try? JSON.Document(value) else { return false }
        let value = Meaning(document.root)
        var changed = meaning
        let isDone =
            switch kind {
            case .set: changed.set(path, to: value)
            case .remove: changed.remove(path.steps[...])
            }
        guard isDone, changed.depth <= JSON.Document.depthLimit else { return false }
        meaning = changed
        return true
    }
}

extension JSON.Value {
    fileprivate func at(_ step: JSON.Step) -> JSON.Value? {
        switch step {
        case .member(let name): self[name]
        case .element(let position): self[position]
        }
    }

    fileprivate func at(_ path: JSON.Path) -> JSON.Value? {
        path.steps.reduce(self) { $0?.at($1) }
    }

    fileprivate func hasNull(on path: JSON.Path) -> Bool {
        path.steps.indices.contains { at(JSON.Path(Array(path.steps[...$0])))?.isNull == true }
            || isNull
    }
}

extension JSON.Path {
    fileprivate var endsInMember: Bool {
        if case .member? = steps.last { true } else { false }
    }
}

extension Meaning {
    fileprivate func path(_ chance: SeededChance) -> JSON.Path {
        var (meaning, path) = (self, JSON.Path())
        while chance.number(in: 0..<8) > 0 {
            let (step, child) = meaning.step(chance)
            path.steps.append(step)
            guard let child else { break }
            meaning = child
        }
        return path
    }

    private func step(_ chance: SeededChance) -> (JSON.Step, Meaning?) {
        let isMissing = chance.number(in: 0..<6) == 0
        switch self {
        case .object(let members) where !members.isEmpty && !isMissing:
            let member = members[chance.number(in: 0..<members.count)]
            return (.member(member.name), member.value)
        case .array(let elements) where !elements.isEmpty && !isMissing:
            let position = chance.number(in: 0..<elements.count)
            return (.element(position), elements[position])
        case .array(let elements):
            return (.element(elements.count + chance.number(in: 0..<2)), nil)
        default:
            return (.member(["new", "", "e\u{301}"][chance.number(in: 0..<3)]), .null)
        }
    }
}
