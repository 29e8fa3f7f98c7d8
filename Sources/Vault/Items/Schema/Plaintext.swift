import Crypto
public import JSON

extension Cipher {
    /// Where a string that has to be encrypted is not. Nothing of it is told but the place.
    public var plainPlaces: [String] {
        isBlob ? [] : document.root.plainPlaces(.item, at: "")
    }
}

extension JSON.Value {
    fileprivate func plainPlaces(_ shape: Shape, at path: String) -> [String] {
        shape.members.flatMap { member -> [String] in
            guard let value = self[anyCase: member.name], !value.isNull else { return [] }
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            switch member.kind {
            case .sealed, .checksum, .key: return value.isSealed ? [] : [place]
            case .object(let shape):
                return value.kind == .object ? value.plainPlaces(shape, at: place) : []
            case .list(let shape):
                return value.array.map { Array($0) }?.flatMap {
                    $0.kind == .object ? $0.plainPlaces(shape, at: place) : []
                } ?? []
            case .text, .date, .flag, .number, .texts, .kept, .mirror: return []
            }
        }
    }

    /// Whether it is an encrypted string, of whichever kind and however damaged, or says nothing.
    public var isSealed: Bool {
        guard let string else { return false }
        return string.isEmpty || EncString.hasForm(string) || (try? EncString(string)) != nil
    }
}
