public import Crypto
import JSON

/// What goes along with a cipher when it is sent, and is not part of it.
public struct Sending: Sendable {
    /// Upstream's stamp as it spells it; upstream refuses if it holds a newer one.
    public var lastKnownRevisionDate: String?
    /// The user for whom the cipher was encrypted.
    public var encryptedFor: String?
    /// The user key it is encrypted with; of personal items only.
    public var encryptedByKeyID: KeyID?
    /// Whether the files' names and keys were wrapped anew, so that upstream must take them over.
    public var rewrapsFiles = false

    public init() {}
}

extension Cipher {
    /// The body of a request that creates or replaces the cipher.
    ///
    /// What only upstream sets is left out, above all `data`, which would win over every edit, and
    /// `attachments`, which would wipe the files' keys. Encrypted strings and all that is not known
    /// here go out as they are, so the same cipher always makes the same request. What is known is spelled as servers
    /// read it, however this one wrote it.
    public func request(_ sending: Sending = Sending()) -> [UInt8] {
        var parts = document.root.sentParts(.item)
        if sending.rewrapsFiles { parts.append(("attachments2", rewrappedFiles)) }
        parts.append(("lastKnownRevisionDate", JSON.Raw(sending.lastKnownRevisionDate)))
        if let user = sending.encryptedFor { parts.append(("encryptedFor", JSON.Raw(user))) }
        if let key = sending.encryptedByKeyID, organizationID == nil {
            parts.append(("encryptedByKeyId", JSON.Raw(key.description)))
        }
        return Array(JSON.Raw.object(parts).bytes)
    }

    private var rewrappedFiles: JSON.Raw {
        .object { files in
            for file in self["attachments"]?.elements ?? [] {
                guard let id = file[anyCase: "id"]?.string else { continue }
                files.object(id) {
                    $0.add("fileName", file[anyCase: "fileName"])
                    $0.add("key", file[anyCase: "key"])
                }
            }
        }
    }
}

extension JSON.Value {
    fileprivate func sentParts(_ shape: Shape) -> Merge.Parts {
        var parts: Merge.Parts = []
        var seen: Set<String> = []
        for member in members {
            guard let known = shape.member(anyCase: member.name) else {
                parts.append((member.name.string, member.value.raw))
                continue
            }
            guard known.uses.contains(.sent), seen.insert(known.name).inserted else { continue }
            let value = self[anyCase: known.name] ?? member.value
            let isNull = shape.isToBeNull(value, known)
            parts.append((known.name, isNull ? .null : value.sent(known.kind)))
        }
        return parts
    }

    private func sent(_ kind: Member.Kind) -> JSON.Raw {
        switch kind {
        case .object(let shape) where self.kind == .object:
            let parts = sentParts(shape)
            return parts.count == members.count && isSpelled(as: shape) ? raw : .object(parts)
        case .list(let shape) where !isSpelled(kind):
            return .array { list in
                for element in elements { list.add(element.sent(.object(shape))) }
            }
        case .object, .list, .sealed, .checksum, .key, .text, .date, .flag, .number, .texts,
            .kept, .mirror:
            return raw
        }
    }

    private func isSpelled(_ kind: Member.Kind) -> Bool {
        switch kind {
        case .object(let shape): isSpelled(as: shape)
        case .list(let shape): elements.allSatisfy { $0.isSpelled(as: shape) }
        case .sealed, .checksum, .key, .text, .date, .flag, .number, .texts, .kept, .mirror: true
        }
    }

    /// Whether all that is known of it is spelled as servers read it.
    private func isSpelled(as shape: Shape) -> Bool {
        members.allSatisfy { member in
            guard let index = shape.names[member.name] else {
                return shape.member(anyCase: member.name) == nil
            }
            let known = shape.members[index]
            return member.value.isSpelled(known.kind) && !shape.isToBeNull(member.value, known)
        }
    }
}
