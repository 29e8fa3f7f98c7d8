public import Crypto
import JSON

extension Cipher {
    /// By what this content is known again, wherever upstream puts spaces and commas.
    ///
    /// The digest of everything sealed in it, and of what stands in the clear beside that. Encrypted
    /// strings hold random vectors, so a content that was sent is known from every other. Dates are
    /// left out, since servers write them in their own way.
    public var fingerprint: [UInt8] { fingerprint(without: []) }

    /// - Parameter omitted: Members of the item itself that do not count.
    private func fingerprint(without omitted: Set<String>) -> [UInt8] {
        var text: [UInt8] = []
        document.root.gather(.item, without: omitted, into: &text, at: "") { $0 }
        for stranger in document.root.strangers(.item) {
            text.add(stranger.sealed, at: stranger.place)
        }
        if isBlob, let content = self["data"]?.string { text.add(content, at: "data") }
        return Digest.sha256(text)
    }

    /// Whether both say the same, wherever they are kept, also in what other clients write that know more members
    /// than this one.
    public func saysTheSame(as other: Cipher, in keys: KeyRing) -> Bool {
        Item(self, keys: keys).isSameContent(as: Item(other, keys: keys))
            && strangers(in: keys) == other.strangers(in: keys)
    }

    /// By their places. What does not open stands for itself.
    private func strangers(in keys: KeyRing) -> [String: String] {
        let strangers = document.root.strangers(.item)
        guard !strangers.isEmpty else { return [:] }
        let sealer = try? sealer(in: keys)
        let texts = strangers.map { ($0.place, (try? sealer?.open($0.sealed)) ?? $0.sealed) }
        return Dictionary(texts) { _, last in last }
    }

    /// Whether both say the same under a key of their own, which the account's may have wrapped anew, and
    /// wherever they are kept. That needs no key to see: nobody seals anything twice alike.
    func isSealedAlike(_ other: Cipher) -> Bool {
        key != nil && other.key != nil && core == other.core
    }

    /// The fingerprint without the place and the wrapped key.
    public var core: [UInt8] { fingerprint(without: Self.place.union(["key"])) }

    /// Whether something differs besides the folder, and whether it is a favourite.
    public func hasOtherContent(than other: Cipher) -> Bool {
        self != other
            && fingerprint(without: Self.place) != other.fingerprint(without: Self.place)
    }

    /// Whether nothing differs but the folder, or whether it is a favourite; no date either.
    public func isElsewhere(than other: Cipher) -> Bool {
        !isPlaced(as: other) && !hasOtherContent(than: other) && isDated(as: other)
    }

    /// Whether nothing differs that whoever edits it may set.
    public func isUnchanged(from other: Cipher) -> Bool {
        isPlaced(as: other) && texts == other.texts && isDated(as: other)
            && fingerprint == other.fingerprint
    }

    /// What nearly every edit seals anew, so that hardly any content is digested to see that it differs.
    private var texts: [String] {
        let login = self["login"]
        return [
            self["name"], self["notes"], login?[anyCase: "username"], login?[anyCase: "password"],
        ].map { $0?.string ?? "" }
    }

    private func isDated(as other: Cipher) -> Bool {
        dates.elementsEqual(other.dates) { Self.isSameDate($0, $1) }
    }

    /// Whether it is in the same folder, and a favourite or not alike. Asked of every edit first, because it digests no
    /// content.
    public func isPlaced(as other: Cipher) -> Bool {
        isFavorite == other.isFavorite && (folderID ?? "") == (other.folderID ?? "")
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

    private static let place: Set = ["folderId", "favorite"]

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
        without omitted: Set<String> = [],
        into text: inout [UInt8],
        at path: String,
        _ read: (String) -> String
    ) {
        for (member, value) in zip(shape.members, values(of: shape))
        where member.uses.contains(.sent) && !omitted.contains(member.name) {
            guard let value, !value.isNull else { continue }
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
                    let (place, length) = ("\(place)[\(position)]", text.count)
                    element.gather(shape, into: &text, at: place, read)
                    // An empty row is one all the same.
                    if text.count == length { text.add("", at: place) }
                }
            case .checksum, .date, .texts, .kept, .mirror: continue
            }
        }
    }

    /// What an object has of each member of its shape, found in one walk. Of a name that occurs twice, the one
    /// counts that everybody else would read.
    private func values(of shape: Shape) -> [JSON.Value?] {
        var values = [JSON.Value?](repeating: nil, count: shape.members.count)
        var isAmbiguous = false
        object?.forEach(inAnyCase: shape.names) { index, value in
            isAmbiguous = isAmbiguous || values[index] != nil
            values[index] = value
        }
        return isAmbiguous ? shape.members.map { self[anyCase: $0.name] } : values
    }
}

extension JSON.Value {
    fileprivate typealias Strangers = [(place: String, sealed: String)]

    /// The encrypted texts in members of an item's parts that are not in the schema, or not looked into, in the order
    /// of their places. What an item itself has besides is upstream's affair, unless nobody here knows its type: then
    /// that is what it holds.
    fileprivate func strangers(_ item: Shape) -> Strangers {
        var found: Strangers = []
        for member in item.members where member.uses.contains(.sent) && member.kind.mayHoldStrangers
        {
            self[anyCase: member.name]?.findStrangers(member, at: member.name, &found)
        }
        if self[anyCase: "type"]?.int.map(ItemType.init)?.member == nil {
            for member in members where item.member(anyCase: member.name) == nil {
                member.value.findSealed(at: member.name.string, &found)
            }
        }
        return found.sorted { $0.place < $1.place }
    }

    /// - Parameter place: Put together only where it is needed, because most members are no strangers.
    private func findStrangers(
        _ known: Member,
        at place: @autoclosure () -> String,
        _ found: inout Strangers
    ) {
        switch known.kind {
        case .object(let shape): findStrangers(shape, at: place(), &found)
        case .list(let shape):
            for (position, element) in elements.enumerated() where !shape.isVoid(element) {
                element.findStrangers(shape, at: "\(place())[\(position)]", &found)
            }
        case .kept: findSealed(at: place(), &found)
        case .sealed, .checksum, .key, .text, .date, .flag, .number, .texts, .mirror: return
        }
    }

    private func findStrangers(
        _ shape: Shape,
        at place: @autoclosure () -> String,
        _ found: inout Strangers
    ) {
        for member in members {
            if let known = shape.member(anyCase: member.name) {
                member.value.findStrangers(known, at: "\(place()).\(known.name)", &found)
            } else {
                member.value.findSealed(at: "\(place()).\(member.name.string)", &found)
            }
        }
    }

    private func findSealed(at place: String, _ found: inout Strangers) {
        switch kind {
        case .string:
            guard let text = string, (try? EncString(text))?.kind == .aesWithMAC else { return }
            found.append((place, text))
        case .array:
            for (position, element) in elements.enumerated() {
                element.findSealed(at: "\(place)[\(position)]", &found)
            }
        case .object:
            for member in members {
                member.value.findSealed(at: "\(place).\(member.name.string)", &found)
            }
        default: return
        }
    }
}

extension Member.Kind {
    fileprivate var mayHoldStrangers: Bool {
        switch self {
        case .object, .list, .kept: true
        case .sealed, .checksum, .key, .text, .date, .flag, .number, .texts, .mirror: false
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
