import Crypto
import JSON

/// Opens what is sealed in a cipher, and notes what does not open.
///
/// One bad member spoils nothing but itself: it stays empty, the flaw names it, and the walk goes on.
struct Opening {
    /// Of the objects that belong to one type only, the one to open.
    private let ownMember: String
    private(set) var flaws: [Flaw] = []

    /// All that opens of a cipher, and what does not.
    ///
    /// - Throws: ``Flaw`` if nothing of the cipher can be opened.
    static func opened(
        _ cipher: Cipher,
        keys: KeyRing
    ) throws(Flaw) -> (contents: Contents, flaws: [Flaw]) {
        var opening = try Opening(of: cipher)
        let contents = try cipher.withOpener(in: keys) { opener in
            opening.contents(of: cipher.document.root, .item, opener)
        }
        return (contents, opening.flaws)
    }

    private init(of cipher: Cipher) throws(Flaw) {
        guard let type = cipher.type, let ownMember = type.member else {
            throw Flaw(.unknownType(cipher.type?.number), at: ["type"])
        }
        guard !cipher.isBlob else { throw Flaw(.blob) }
        self.ownMember = ownMember
    }

    /// Walks over the object once: looking for each member would take longer than opening it.
    private mutating func contents(
        of object: JSON.Value,
        _ shape: Shape,
        _ opener: borrowing Opener
    ) -> Contents {
        var slots = [Content](repeating: .none, count: shape.shown.count)
        var seen: UInt64 = 0
        let known = flaws.count
        guard let members = object.object else { return Contents(shape, slots: slots) }
        var isAmbiguous = false
        members.forEach(inAnyCase: shape.names) { index, value in
            guard index < slots.count, !isAmbiguous else { return }
            isAmbiguous = seen & (1 << UInt64(index)) != 0
            seen |= 1 << UInt64(index)
            slots[index] = content(of: value, at: index, of: shape, opener)
        }
        guard isAmbiguous else { return Contents(shape, slots: slots) }
        flaws.removeLast(flaws.count - known)
        return contents(ofAmbiguous: object, shape, opener)
    }

    /// Where a name occurs twice, the one counts that everybody else would read.
    private mutating func contents(
        ofAmbiguous object: JSON.Value,
        _ shape: Shape,
        _ opener: borrowing Opener
    ) -> Contents {
        var contents = Contents(shape)
        for index in shape.shown.indices {
            let name = shape.members[index].name
            guard let value = object[anyCase: name] else { continue }
            contents[name] = content(of: value, at: index, of: shape, opener)
        }
        return contents
    }

    private mutating func content(
        of value: JSON.Value,
        at index: Int,
        of shape: Shape,
        _ opener: borrowing Opener
    ) -> Content {
        guard !value.isNull else { return .none }
        switch shape.members[index].kind {
        case .sealed:
            return value.saysNothing ? .none : text(of: value, at: index, of: shape, opener)
        case .object(let inner):
            let name = shape.members[index].name
            guard name == ownMember else { return .none }
            return inside(.member(name)) { $0.nested(value, inner, opener) }
        case .list(let inner):
            return inside(.member(shape.members[index].name)) { $0.list(value, inner, opener) }
        case .text, .date, .flag, .number, .texts, .kept, .mirror, .checksum, .key:
            return .plain(value.raw)
        }
    }

    private mutating func text(
        of value: JSON.Value,
        at index: Int,
        of shape: Shape,
        _ opener: borrowing Opener
    ) -> Content {
        guard value.kind == .string else {
            let name = shape.members[index].name
            flaws.append(Flaw(.shape("must be a string"), at: [.member(name)]))
            return .none
        }
        do throws(CryptoError) {
            return .text(try opener.open(value))
        } catch {
            let name = shape.members[index].name
            flaws.append(Flaw(.sealed(error), at: [.member(name)]))
            return .none
        }
    }

    private mutating func nested(
        _ value: JSON.Value,
        _ shape: Shape,
        _ opener: borrowing Opener
    ) -> Content {
        guard value.kind == .object else {
            flaws.append(Flaw(.shape("must be an object")))
            return .none
        }
        return .object(contents(of: value, shape, opener))
    }

    private mutating func list(
        _ value: JSON.Value,
        _ shape: Shape,
        _ opener: borrowing Opener
    ) -> Content {
        guard let elements = value.array else {
            flaws.append(Flaw(.shape("must be an array")))
            return .none
        }
        var list: [Contents] = []
        for (position, element) in elements.enumerated() where !shape.isVoid(element) {
            let content = inside(.element(position)) { $0.nested(element, shape, opener) }
            list.append(content.object ?? Contents(shape))
        }
        return .list(list)
    }

    /// What the body finds wrong lies inside the step.
    private mutating func inside(
        _ step: JSON.Step,
        _ body: (inout Opening) -> Content
    ) -> Content {
        let known = flaws.count
        let content = body(&self)
        for index in flaws.indices.dropFirst(known) {
            flaws[index] = flaws[index].inside(step)
        }
        return content
    }
}

extension Opener {
    /// Opens the EncString where it lies in the cipher's JSON.
    fileprivate func open(_ value: JSON.Value) throws(CryptoError) -> String {
        let quoted = value.raw.bytes
        do throws(CryptoError) {
            let sealed = quoted.dropFirst().dropLast()
            return try sealed.span.withUnsafeBytes { bytes throws(CryptoError) in
                try open(utf8: bytes)
            }
        } catch {
            // Some servers write `\/`, which is the same text and another spelling.
            guard case .malformed = error, quoted.contains(UInt8(ascii: "\\")),
                let text = value.string
            else { throw error }
            return try open(text)
        }
    }
}

extension Sealer {
    /// Opens the EncString where it lies in the cipher's JSON.
    func open(_ value: JSON.Value) throws(CryptoError) -> String {
        try withOpener { opener throws(CryptoError) in try opener.open(value) }
    }
}
