import Crypto
import JSON

/// Takes the strings of a cipher from one key to another, and touches nothing else.
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
                parts.append((name, member.value.raw))
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
            return value.isNull ? .null : try sealed(value)
        case .checksum(let name):
            guard value.isNull else { return carried(value) }
            return try checksum(of: object[anyCase: name])
        case .object(let shape):
            return value.isNull ? .null : .object(try self.object(value, shape))
        case .list(let shape):
            return value.isNull ? .null : try list(value, shape)
        case .text, .date, .flag, .number, .texts, .kept, .mirror:
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
        guard addsChecksums, let value, !value.isNull else { return .null }
        do throws(CryptoError) {
            return JSON.Raw(try to.seal(URIChecksum.of(from.open(value))))
        } catch {
            throw Flaw(.sealed(error))
        }
    }
}
