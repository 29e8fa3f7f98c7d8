import Crypto
import JSON

extension Cipher {
    /// By what this content is known again, wherever upstream puts spaces and commas.
    ///
    /// The digest of everything sealed in it, and of what stands in the clear beside that. Encrypted
    /// strings hold random vectors, so a content that was sent is known from every other. Dates are
    /// left out, since servers write them in their own way.
    public var fingerprint: [UInt8] {
        var text: [UInt8] = []
        document.root.gather(.item, into: &text, at: "")
        return Digest.sha256(text)
    }
}

extension JSON.Value {
    fileprivate func gather(_ shape: Shape, into text: inout [UInt8], at path: String) {
        for member in shape.members where member.uses.contains(.sent) {
            guard let value = self[anyCase: member.name], !value.isNull else { continue }
            let place = "\(path).\(member.name)"
            switch member.kind {
            case .sealed, .key, .text:
                if let string = value.string, !string.isEmpty { text.add(string, at: place) }
            case .flag:
                if value.bool == true { text.add("true", at: place) }
            case .number(_, let null):
                if let number = value.int, number != null { text.add("\(number)", at: place) }
            case .object(let shape):
                if value.kind == .object { value.gather(shape, into: &text, at: place) }
            case .list(let shape):
                for (position, element) in value.elements.enumerated() where !shape.isVoid(element)
                {
                    element.gather(shape, into: &text, at: "\(place)[\(position)]")
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
