import Vault

/// An item as the server keeps it, without what is each user's own.
struct StoredCipher: Sendable {
    let id: String
    /// What it was created as; a later request cannot change it.
    let type: Int
    var organizationID: String?
    var collectionIDs: [String] = []
    var created: Moment
    var revised: Moment
    var deleted: Moment?
    var content: Content
    var files: [StoredFile] = []
}

/// What a user keeps about an item, also where it belongs to an organisation.
struct Placement: Sendable, Hashable {
    var folderID: String?
    var isFavorite = false
    var archived: Moment?
}

/// A file of an item. Its bytes are kept elsewhere.
struct StoredFile: Sendable, Hashable {
    let id: String
    var fileName: String
    var key: String?
    var size: Int
    /// Whether its bytes have arrived.
    var isWhole = false
}

/// What a user may do with an item.
struct Access: Sendable, Hashable {
    var mayEdit = true
    var showsPasswords = true

    static let owner = Access()
}
