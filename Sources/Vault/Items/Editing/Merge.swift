import Crypto
import JSON

/// Writes an object after an edit: what the user changed is sealed anew, and all else keeps its
/// bytes, be it ciphertext or something that nobody here has heard of.
struct Merge {
    let sealer: Sealer
    /// The item as it was: what was secret in it upstream takes, however long.
    var former: Contents?

    typealias Parts = [(name: String, value: JSON.Raw)]

    /// - Parameter original: The object as it was; nil for a new one, which gets all its members.
    func object(
        _ original: JSON.Value?,
        from old: Contents,
        to new: Contents
    ) throws(EditRefusal) -> JSON.Raw {
        .object(try parts(original, from: old, to: new))
    }

    /// The same, for whoever has something to add.
    func parts(
        _ original: JSON.Value?,
        from old: Contents,
        to new: Contents
    ) throws(EditRefusal) -> Parts {
        var parts: Parts = []
        var seen: Set<String> = []
        for member in original?.members ?? [] {
            let name = member.name.string
            guard let known = new.shape.member(anyCase: member.name) else {
                parts.append((name, member.value.raw))
                continue
            }
            guard seen.insert(known.name).inserted else { continue }
            if let value = try self.member(known, of: original, from: old, to: new) {
                parts.append((name, value))
            }
        }
        for member in new.shape.members where !seen.contains(member.name) {
            if let value = try self.member(member, of: original, from: old, to: new) {
                parts.append((member.name, value))
            }
        }
        return parts
    }

    /// Nil leaves the member out.
    private func member(
        _ member: Member,
        of original: JSON.Value?,
        from old: Contents,
        to new: Contents
    ) throws(EditRefusal) -> JSON.Raw? {
        let value = original?[anyCase: member.name]
        switch member.kind {
        case .mirror:
            return nil
        case .checksum(let name):
            return try checksum(value, of: name, isNew: original == nil, from: old, to: new)
        case .sealed, .text, .date, .flag, .number, .texts, .object, .list:
            let (before, after) = (old[member.name], new[member.name])
            guard member.uses.contains(.shown) else { return value?.raw }
            if original != nil, member.kind.isSame(before, after), !member.kind.hasVoid(value) {
                return value?.raw
            }
            if case .object = member.kind, after.object == nil, value == nil { return nil }
            return try placed(.member(member.name)) { () throws(EditRefusal) in
                try write(after, member.kind, over: value, from: before)
            }
        case .key, .kept:
            return value?.raw
        }
    }

    private func write(
        _ content: Content,
        _ kind: Member.Kind,
        over original: JSON.Value?,
        from old: Content
    ) throws(EditRefusal) -> JSON.Raw {
        switch content {
        case .none:
            return kind.null
        case .text(let text):
            return try seal(text, kind)
        case .plain(let raw):
            try kind.check(raw)
            return raw
        case .object(let contents):
            let original = original.flatMap { $0.kind == .object ? $0 : nil }
            let before = old.object ?? Contents(contents.shape)
            return try object(original, from: before, to: contents)
        case .list(let list):
            return try self.list(original, from: old.list, to: list)
        }
    }

    private func list(
        _ original: JSON.Value?,
        from old: [Contents],
        to new: [Contents]
    ) throws(EditRefusal) -> JSON.Raw {
        let shape = (new.first ?? old.first)?.shape
        let originals = (original?.elements ?? []).filter { shape?.isVoid($0) != true }
        let origins = Pairing.origins(of: new, in: old)
        var elements: [JSON.Raw] = []
        for (position, contents) in new.enumerated() {
            let origin = origins[position].flatMap { originals.indices.contains($0) ? $0 : nil }
            if let origin, old[origin].isSame(as: contents) {
                elements.append(originals[origin].raw)
                continue
            }
            let before = origin.map { old[$0] }
            elements.append(
                try placed(.element(position)) { () throws(EditRefusal) in
                    try contents.requireMembers(unlessMissingIn: before)
                    return try object(
                        origin.map { originals[$0] },
                        from: before ?? Contents(contents.shape),
                        to: contents
                    )
                }
            )
        }
        return JSON.Raw(elements)
    }

    /// Where something was refused is put together only when something is.
    private func placed<Value>(
        _ step: JSON.Step,
        _ body: () throws(EditRefusal) -> Value
    ) throws(EditRefusal) -> Value {
        do throws(EditRefusal) { return try body() } catch { throw error.within(step) }
    }

    private func seal(
        _ text: String,
        _ kind: Member.Kind
    ) throws(EditRefusal) -> JSON.Raw {
        if case .sealed(let limit) = kind, Sealer.textCount(sealing: text.utf8.count) > limit,
            former?.holdsSecret(text) != true
        {
            throw .tooLong([], bytes: Sealer.byteCount(fitting: limit))
        }
        do throws(CryptoError) {
            return JSON.Raw(try sealer.seal(text))
        } catch {
            throw .crypto(error)
        }
    }

    private func checksum(
        _ value: JSON.Value?,
        of name: String,
        isNew: Bool,
        from old: Contents,
        to new: Contents
    ) throws(EditRefusal) -> JSON.Raw? {
        let sealed = Member.Kind.sealed(limit: .max)
        guard isNew || !sealed.isSame(old[name], new[name]) else { return value?.raw }
        guard let text = new[name].text else { return .null }
        return try seal(URIChecksum.of(text), sealed)
    }
}

extension Contents {
    /// What lacked a member before may go on lacking it: whoever edits the rest of the item cannot supply it.
    fileprivate func requireMembers(unlessMissingIn old: Contents?) throws(EditRefusal) {
        for member in shape.members where lacks(member) && old?.lacks(member) != true {
            throw .unfit(JSON.Mismatch("is missing", at: [.member(member.name)]))
        }
    }

    private func lacks(_ member: Member) -> Bool {
        shape.required.contains(member.name) && (self[member.name].text ?? "").isEmpty
    }
}

extension Member.Kind {
    fileprivate func hasVoid(_ value: JSON.Value?) -> Bool {
        guard case .list(let shape) = self, shape.essential != nil, let value else { return false }
        return value.elements.contains(where: shape.isVoid)
    }

    /// A newer client may know more numbers than this program, and some write dates that are none: what they have
    /// written can be kept, and not be set.
    fileprivate func check(_ raw: JSON.Raw) throws(EditRefusal) {
        switch self {
        case .number(let range, _):
            guard let number = raw.int, !range.contains(number) else { return }
            throw .unfit(
                JSON.Mismatch("must be a number from \(range.lowerBound) to \(range.upperBound)")
            )
        case .date:
            guard let text = raw.string, !DateText.isDate(text) else { return }
            throw .unfit(JSON.Mismatch(DateText.expectation))
        case .sealed, .checksum, .key, .text, .flag, .texts, .kept, .mirror, .object, .list: return
        }
    }

    /// What is written where there is nothing. Upstream does not take null for all of them.
    fileprivate var null: JSON.Raw {
        switch self {
        case .flag: false
        case .number(_, .some(let number)): JSON.Raw(number)
        case .texts: JSON.Raw([String]())
        case .number, .sealed, .checksum, .key, .text, .date, .kept, .mirror, .object, .list: .null
        }
    }
}

extension JSON.Raw {
    static func object(_ parts: Merge.Parts) -> JSON.Raw {
        .object(capacity: parts.reduce(64) { $0 + $1.name.utf8.count + $1.value.range.count + 4 }) {
            for (name, value) in parts { $0.add(name, value) }
        }
    }
}

extension Sealer {
    /// The most bytes of text whose EncString has no more characters than the limit.
    static func byteCount(fitting limit: Int) -> Int {
        // 72 characters are the same in all of them; the rest is base64 of whole blocks of 16 bytes.
        let blocks = (limit - 72) / 4 * 3 / 16
        return max(0, blocks * 16 - 1)
    }
}
