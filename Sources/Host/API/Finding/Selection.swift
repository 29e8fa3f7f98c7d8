import Vault

/// Which items of a vault a client wants to see.
struct Selection {
    /// Where an item is to be.
    enum Place: Equatable {
        /// In none at all: `null`.
        case none
        /// In whichever: `notnull`.
        case any
        case id(String)

        init(_ text: String) {
            switch text.lowercased() {
            case "null": self = .none
            case "notnull": self = .any
            default: self = .id(text.lowercased())
            }
        }

        func holds(_ ids: [String]) -> Bool {
            switch self {
            case .none: ids.isEmpty
            case .any: !ids.isEmpty
            case .id(let id): ids.contains { $0.lowercased() == id }
            }
        }
    }

    enum Shelf: Equatable {
        case current, trash, archive
    }

    var shelf = Shelf.current
    var folder: Place?
    var organization: Place?
    var collection: Place?

    /// An option that is there means yes, whatever it says: `trash=false` is the trash.
    init(_ call: VaultAPI.Call) {
        if call.has("trash") { shelf = .trash } else if call.has("archived") { shelf = .archive }
        folder = call.option("folderid", "folderId").map(Place.init)
        organization = call.organizationID.map(Place.init)
        collection = call.option("collectionid", "collectionId").map(Place.init)
    }

    /// The shelf must be right, and of the places that were asked for one is enough.
    func includes(_ cipher: Cipher) -> Bool {
        isOnShelf(cipher) && isInPlace(cipher)
    }

    private func isOnShelf(_ cipher: Cipher) -> Bool {
        switch shelf {
        case .trash: cipher.isInTrash
        case .archive: !cipher.isInTrash && cipher.isArchived
        case .current: !cipher.isInTrash && !cipher.isArchived
        }
    }

    private func isInPlace(_ cipher: Cipher) -> Bool {
        let places = [
            folder.map { ($0, cipher.folderID.map { [$0] } ?? []) },
            organization.map { ($0, cipher.organizationID.map { [$0] } ?? []) },
            collection.map { ($0, cipher.collectionIDs) },
        ].compactMap { $0 }
        return places.isEmpty || places.contains { place, ids in place.holds(ids) }
    }
}
