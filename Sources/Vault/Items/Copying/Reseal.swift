import Crypto
import JSON

/// Takes the strings of a cipher from one key to another, those of members that nobody here has heard
/// of too, and touches nothing else.
///
/// The bytes that were sealed are carried over as they are; what is in them is never made into text.
struct Reseal {
    let from: Sealer
    let to: Sealer
    /// Which members go along.
    var uses: Member.Uses?
    /// Whether URIs without a checksum get one. They need it under a key of the item's own: official
    /// clients drop those that have none.
    var addsChecksums = true

    func object(_ object: JSON.Value, _ shape: Shape) throws(Flaw) -> Merge.Parts {
        var parts: Merge.Parts = []
        var seen: Set<String> = []
        for member in object.members {
            let name = member.name.string
            guard let known = shape.member(anyCase: member.name) else {
                parts.append((name, try unknown(member.value, at: .member(name))))
                continue
            }
            guard goesAlong(known), seen.insert(known.name).inserted else { continue }
            let value = object[anyCase: known.name] ?? member.value
            do throws(Flaw) {
                parts.append((name, try self.value(value, known.kind, of: object)))
            } catch {
                throw error.inside(.member(known.name))
            }
        }
        try addChecksum(to: &parts, of: object, shape, seen)
        return parts
    }

    private func goesAlong(_ member: Member) -> Bool {
        if case .mirror = member.kind { return false }
        return uses.map { member.uses.isSuperset(of: $0) } ?? true
    }

    private func value(
        _ value: JSON.Value,
        _ kind: Member.Kind,
        of object: JSON.Value
    ) throws(Flaw) -> JSON.Raw {
        switch kind {
        case .sealed, .key:
            return value.saysNothing ? .null : try sealed(value)
        case .checksum(let name):
            guard value.saysNothing else { return carried(value) }
            return try checksum(of: object[anyCase: name])
        case .object(let shape):
            return value.isNull ? .null : .object(try self.object(value, shape))
        case .list(let shape):
            return value.isNull ? .null : try list(value, shape)
        case .kept:
            return try unknown(value)
        case .text, .date, .flag, .number, .texts, .mirror:
            return value.raw
        }
    }

    private func list(_ value: JSON.Value, _ shape: Shape) throws(Flaw) -> JSON.Raw {
        var elements: [JSON.Raw] = []
        for (position, element) in value.elements.enumerated() where !shape.isVoid(element) {
            do throws(Flaw) {
                elements.append(.object(try object(element, shape)))
            } catch {
                throw error.inside(.element(position))
            }
        }
        return JSON.Raw(elements)
    }

    /// What nobody here has heard of keeps its bytes, but for encrypted texts: those were sealed
    /// under the key that is left behind, and one that it does not open must not go along.
    private func unknown(_ value: JSON.Value) throws(Flaw) -> JSON.Raw {
        guard value.holdsSealedText else { return value.raw }
        switch value.kind {
        case .object:
            var parts: Merge.Parts = []
            for member in value.members {
                let name = member.name.string
                parts.append((name, try unknown(member.value, at: .member(name))))
            }
            return .object(parts)
        case .array:
            var elements: [JSON.Raw] = []
            for (position, element) in value.elements.enumerated() {
                elements.append(try unknown(element, at: .element(position)))
            }
            return JSON.Raw(elements)
        default:
            return try sealed(value)
        }
    }

    private func unknown(_ value: JSON.Value, at step: JSON.Step) throws(Flaw) -> JSON.Raw {
        do throws(Flaw) {
            return try unknown(value)
        } catch {
            throw error.inside(step)
        }
    }

    private func sealed(_ value: JSON.Value) throws(Flaw) -> JSON.Raw {
        guard let text = value.string else { throw Flaw(.shape("must be a string")) }
        do throws(CryptoError) {
            let secret = try from.openSecret(text)
            return JSON.Raw(try to.seal(secret))
        } catch {
            throw Flaw(.sealed(error))
        }
    }

    /// A checksum that cannot be opened vouches for nothing; it neither stands in a copy's way nor is
    /// replaced by one that would.
    private func carried(_ checksum: JSON.Value) -> JSON.Raw {
        (try? sealed(checksum)) ?? .null
    }

    private func addChecksum(
        to parts: inout Merge.Parts,
        of object: JSON.Value,
        _ shape: Shape,
        _ seen: Set<String>
    ) throws(Flaw) {
        for member in shape.members where !seen.contains(member.name) {
            guard case .checksum(let name) = member.kind else { continue }
            parts.append((member.name, try checksum(of: object[anyCase: name])))
        }
    }

    private func checksum(of value: JSON.Value?) throws(Flaw) -> JSON.Raw {
        guard addsChecksums, let value, !value.saysNothing else { return .null }
        do throws(CryptoError) {
            return JSON.Raw(try to.seal(URIChecksum.of(from.open(value))))
        } catch {
            throw Flaw(.sealed(error))
        }
    }
}

extension JSON.Value {
    /// Whether there is an encrypted text in it, however deep.
    fileprivate var holdsSealedText: Bool {
        switch kind {
        case .string: string.flatMap { try? EncString($0) }?.kind == .aesWithMAC
        case .array: elements.contains(where: \.holdsSealedText)
        case .object: members.contains(where: \.value.holdsSealedText)
        default: false
        }
    }
}
