public import Crypto
import JSON

extension Cipher {
    /// By what this content is known again, wherever upstream puts spaces and commas.
    ///
    /// The digest of everything sealed in it, and of what stands in the clear beside that. Encrypted
    /// strings hold random vectors, so a content that was sent is known from every other. Dates are
    /// left out, since servers write them in their own way.
    public var fingerprint: [UInt8] {
        var text: [UInt8] = []
        document.root.gather(.item, into: &text, at: "") { $0 }
        return Digest.sha256(text)
    }

    /// Whether both say the same under a key of their own, which the account's may have wrapped anew, and
    /// wherever they are kept. That needs no key to see: nobody seals anything twice alike.
    func isSealedAlike(_ other: Cipher) -> Bool {
        guard key != nil, other.key != nil else { return false }
        return withoutKeyAndPlace.fingerprint == other.withoutKeyAndPlace.fingerprint
    }

    /// Whether nothing differs but the folder, or whether it is a favourite; no date either.
    public func isElsewhere(than other: Cipher) -> Bool {
        fingerprint != other.fingerprint
            && without(Self.place).fingerprint == other.without(Self.place).fingerprint
            && dates.elementsEqual(other.dates) { Self.isSameDate($0, $1) }
    }

    private static func isSameDate(_ one: Revision?, _ other: Revision?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.isSame(as: other)
    }

    /// Those that whoever edits it may set.
    private var dates: [Revision?] {
        let history = self["passwordHistory"]?.array.map { Array($0) } ?? []
        let passkeys = self["login"]?["fido2Credentials"]?.array.map { Array($0) } ?? []
        let texts =
            [archivedDate] + history.map { $0["lastUsedDate"]?.string }
            + passkeys.map { $0["creationDate"]?.string }
        return texts.map { $0.flatMap(Revision.init) }
    }

    private var withoutKeyAndPlace: Cipher { without(Self.place + ["key"]) }

    private static let place = ["folderId", "favorite"]

    private func without(_ names: [String]) -> Cipher {
        var edit = JSON.Edit(document)
        for name in names { edit.put(.null, at: name) }
        return Cipher(edit)
    }

    /// By what it is known again when everything in it was sealed anew: the digest of what it says. Nil
    /// where something does not open.
    public func openFingerprint(in keys: KeyRing) -> [UInt8]? {
        guard let sealer = try? sealer(in: keys) else { return nil }
        var (text, opensAll): ([UInt8], Bool) = ([], true)
        document.root.gather(.item, into: &text, at: "") { sealed in
            let opened = try? sealer.open(sealed)
            if opened == nil { opensAll = false }
            return opened ?? ""
        }
        return opensAll ? Digest.sha256(text) : nil
    }
}

extension JSON.Value {
    /// - Parameter read: Makes of what is sealed what stands for it.
    fileprivate func gather(
        _ shape: Shape,
        into text: inout [UInt8],
        at path: String,
        _ read: (String) -> String
    ) {
        for member in shape.members where member.uses.contains(.sent) {
            guard let value = self[anyCase: member.name], !value.isNull else { continue }
            let place = "\(path).\(member.name)"
            switch member.kind {
            case .sealed, .key:
                if let string = value.string, !string.isEmpty { text.add(read(string), at: place) }
            case .text:
                if let string = value.string, !string.isEmpty { text.add(string, at: place) }
            case .flag:
                if value.bool == true { text.add("true", at: place) }
            case .number(_, let null):
                if let number = value.int, number != null { text.add("\(number)", at: place) }
            case .object(let shape):
                if value.kind == .object { value.gather(shape, into: &text, at: place, read) }
            case .list(let shape):
                for (position, element) in value.elements.enumerated() where !shape.isVoid(element)
                {
                    element.gather(shape, into: &text, at: "\(place)[\(position)]", read)
                }
            case .checksum, .date, .texts, .kept, .mirror: continue
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func add(_ value: String, at place: String) {
        self += place.utf8
        append(0)
        self += value.utf8
        append(0)
    }
}
