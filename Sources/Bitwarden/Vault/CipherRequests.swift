public import JSON

// A cipher itself, as an answer and as the body of a request, is `Cipher` of the room `Vault`.

/// Which items a call is about.
public struct IDsRequest: Sendable, Hashable, JSON.Readable {
    public let ids: [String]

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        ids = try json.read(anyCase: "ids")
    }
}

/// What is the user's own even where the item belongs to an organisation.
public struct PartialRequest: Sendable, Hashable, JSON.Readable, JSON.Writable {
    public let folderID: String?
    public let isFavorite: Bool

    public init(folderID: String?, isFavorite: Bool) {
        self.folderID = folderID
        self.isFavorite = isFavorite
    }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        folderID = try json.read(anyCase: "folderId")
        isFavorite = try json.read(anyCase: "favorite", as: Bool?.self) ?? false
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("folderId", folderID)
            $0.add("favorite", isFavorite)
        }
    }
}

/// Into which folder items are to move; into none, if it is `nil`.
public struct MoveRequest: Sendable, Hashable, JSON.Readable {
    public let ids: [String]
    public let folderID: String?

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        ids = try json.read(anyCase: "ids")
        folderID = try json.read(anyCase: "folderId")
    }
}

/// An item together with the collections it is to be in: a new one of an organisation, or a personal
/// one that is shared.
public struct SharedCipherRequest: Sendable, JSON.Readable, JSON.Writable {
    public let cipher: JSON.Raw
    public let collectionIDs: [String]

    public init(cipher: JSON.Raw, collectionIDs: [String]) {
        self.cipher = cipher
        self.collectionIDs = collectionIDs
    }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        cipher = try json.read(anyCase: "cipher")
        collectionIDs = try json.read(anyCase: "collectionIds", as: [String]?.self) ?? []
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("cipher", cipher)
            $0.add("collectionIds", collectionIDs)
        }
    }
}

/// The hash of the master password, as proof that it is the user who asks.
public struct PasswordProof: Sendable, Hashable, JSON.Readable {
    public let masterPasswordHash: String

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        masterPasswordHash = try json.read(anyCase: "masterPasswordHash")
    }
}
