import Crypto
import JSON

/// Opens what is sealed in a cipher, and notes what does not open.
///
/// One bad member spoils nothing but itself: it stays empty, the flaw names it, and the walk goes on.
struct Opening {
    let sealer: Sealer
    /// Of the objects that belong to one type only, the one to open.
    let ownMember: String
    private(set) var flaws: [Flaw] = []

    /// - Throws: ``Flaw`` if nothing of the cipher can be opened.
    init(of cipher: Cipher, keys: KeyRing) throws(Flaw) {
        guard let type = cipher.type, let ownMember = type.member else {
            throw Flaw(.unknownType(cipher.type?.number), at: ["type"])
        }
        guard !cipher.isBlob else { throw Flaw(.blob) }
        self.ownMember = ownMember
        sealer = try cipher.sealer(in: keys)
    }

    /// Walks over the object once: looking for each member would take longer than opening it.
    mutating func contents(of object: JSON.Value, _ shape: Shape) -> Contents {
        var slots = [Content](repeating: .none, count: shape.shown.count)
        var seen: UInt64 = 0
        let known = flaws.count
        guard let members = object.object else { return Contents(shape, slots: slots) }
        for member in members {
            guard let index = shape.index(anyCase: member.name.string), index < slots.count else {
                continue
            }
            guard seen & (1 << UInt64(index)) == 0 else {
                flaws.removeLast(flaws.count - known)
                return contents(ofAmbiguous: object, shape)
            }
            seen |= 1 << UInt64(index)
            slots[index] = content(of: member.value, shape.shown[index])
        }
        return Contents(shape, slots: slots)
    }

    /// Where a name occurs twice, the one counts that everybody else would read.
    private mutating func contents(ofAmbiguous object: JSON.Value, _ shape: Shape) -> Contents {
        var contents = Contents(shape)
        for member in shape.shown {
            guard let value = object[anyCase: member.name] else { continue }
            contents[member.name] = content(of: value, member)
        }
        return contents
    }

    private mutating func content(of value: JSON.Value, _ member: Member) -> Content {
        guard !value.isNull, isWanted(member) else { return .none }
        switch member.kind {
        case .sealed:
            return text(of: value, member)
        case .object(let shape):
            return inside(.member(member.name)) { $0.nested(value, shape) }
        case .list(let shape):
            return inside(.member(member.name)) { $0.list(value, shape) }
        case .text, .date, .flag, .number, .texts, .kept, .mirror, .checksum, .key:
            return .plain(value.raw)
        }
    }

    private func isWanted(_ member: Member) -> Bool {
        if case .object = member.kind { return member.name == ownMember }
        return true
    }

    private mutating func text(of value: JSON.Value, _ member: Member) -> Content {
        guard value.kind == .string else {
            flaws.append(Flaw(.shape("must be a string"), at: [.member(member.name)]))
            return .none
        }
        do throws(CryptoError) {
            return .text(try sealer.open(value))
        } catch {
            flaws.append(Flaw(.sealed(error), at: [.member(member.name)]))
            return .none
        }
    }

    private mutating func nested(_ value: JSON.Value, _ shape: Shape) -> Content {
        guard value.kind == .object else {
            flaws.append(Flaw(.shape("must be an object")))
            return .none
        }
        return .object(contents(of: value, shape))
    }

    private mutating func list(_ value: JSON.Value, _ shape: Shape) -> Content {
        guard let elements = value.array else {
            flaws.append(Flaw(.shape("must be an array")))
            return .none
        }
        var list: [Contents] = []
        for (position, element) in elements.enumerated() {
            let content = inside(.element(position)) { $0.nested(element, shape) }
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

extension Sealer {
    /// Opens the EncString where it lies in the cipher's JSON.
    func open(_ value: JSON.Value) throws(CryptoError) -> String {
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
