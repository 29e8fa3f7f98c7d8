import Bitwarden
import Vault
import Sync

/// What can be found by a name, or by a part of one.
protocol Listed {
    var listedID: String { get }
    var listedName: String { get }
    /// Whether a search shows it.
    func isFound(by search: Folded) -> Bool
}

extension Listed {
    func isFound(by search: Folded) -> Bool { Folded(listedName).contains(search) }
}

extension ViewedItem: Listed {
    var listedID: String { item.id ?? "" }
    var listedName: String { item.name ?? "" }

    /// In the name, in the line below it or in an address, or, of eight letters and more, at the
    /// beginning of the id. Notes and fields are not searched.
    func isFound(by search: Folded) -> Bool {
        if Folded(listedName).contains(search) { return true }
        if search.count >= 8, Folded(listedID).hasPrefix(search) { return true }
        if let subtitle = item.subtitle, Folded(subtitle).contains(search) { return true }
        return item.login?.uris.contains { Folded($0.uri).contains(search) } ?? false
    }
}

extension ViewedFolder: Listed {
    var listedID: String { id }
    var listedName: String { name }
}

extension FolderObject: Listed {
    var listedID: String { id ?? "" }
    var listedName: String { name }
}

extension ViewedCollection: Listed {
    var listedID: String { id }
    var listedName: String { name }
}

extension Membership: Listed {
    var listedID: String { organizationID }
    var listedName: String { name ?? "" }
}

extension ViewedSend: Listed {
    var listedID: String { answer.id }
    var listedName: String { name }

    /// In whatever can be read of it, or, of eight letters and more, at the beginning of the id or of what its
    /// address is made of.
    func isFound(by search: Folded) -> Bool {
        let texts = [name, notes, text, fileName].compactMap { $0 }.map { Folded($0) }
        if texts.contains(where: { $0.contains(search) }) { return true }
        let ids = [answer.id, answer.accessID].compactMap { $0 }.map { Folded($0) }
        return search.count >= 8 && ids.contains { $0.hasPrefix(search) }
    }
}

extension Collection where Element: Listed {
    /// Those that the search shows, in the order of their names.
    func listed(by search: String?) -> [Element] {
        let search = search.map(Folded.init(search:)) ?? Folded("")
        let found = search.isEmpty ? Array(self) : filter { $0.isFound(by: search) }
        let named = found.map { (name: Folded($0.listedName), element: $0) }
        return named.sorted { one, other in
            one.name == other.name
                ? one.element.listedID < other.element.listedID : one.name < other.name
        }.map(\.element)
    }

    /// The one that is meant by an id or a part of a name.
    ///
    /// A name that is exactly so wins over those that only contain it, and those over what is found
    /// elsewhere than in the name.
    func one(by text: String) throws -> Element {
        if text.isIdentifier {
            let id = text.lowercased()
            guard let exact = first(where: { $0.listedID.lowercased() == id }) else {
                throw DeskRefusal.notFound
            }
            return exact
        }
        return try one(named: text)
    }

    private func one(named text: String) throws -> Element {
        let name = Folded(search: text)
        guard !name.isEmpty else { throw DeskRefusal.notFound }
        let named = map { (name: Folded($0.listedName), element: $0) }
        var found = filter { $0.listedName == text }
        if found.isEmpty {
            let text = text.lowercased()
            found = filter { $0.listedName.lowercased() == text }
        }
        if found.isEmpty { found = named.filter { $0.name == name }.map(\.element) }
        if found.isEmpty { found = named.filter { $0.name.contains(name) }.map(\.element) }
        if found.isEmpty { found = filter { $0.isFound(by: name) } }
        guard let first = found.first else { throw DeskRefusal.notFound }
        guard found.count == 1 else { throw Declined.ambiguous(found.map(\.listedID).sorted()) }
        return first
    }
}

extension String {
    /// Whether it is the id of something: a GUID in whatever case.
    var isIdentifier: Bool {
        guard utf8.count == 36 else { return false }
        return zip(0..., utf8).allSatisfy { place, byte in
            switch place {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: byte.isHexDigit
            }
        }
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
