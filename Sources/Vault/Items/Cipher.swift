public import JSON

/// An entry as upstream has it: its JSON, to the byte, and what of it can be read without a key.
///
/// Servers disagree about capital letters and about null and empty lists; the readings here do not.
/// Members that nobody here has heard of stay where they are.
public struct Cipher: Sendable {
    public let document: JSON.Document

    /// - Throws: ``NotACipher`` if the text is no JSON object.
    public init(_ bytes: [UInt8]) throws(NotACipher) {
        do throws(JSON.Failure) {
            document = try JSON.Document(bytes)
        } catch {
            throw .notJSON(error)
        }
        guard document.root.kind == .object else { throw .notAnObject }
    }

    /// The element of a larger answer, in a copy of its own.
    public init(_ raw: JSON.Raw) throws(NotACipher) {
        try self.init(Array(raw.bytes))
    }

    public var bytes: [UInt8] { document.bytes }

    public var id: String? { self["id"]?.string }
    /// Nil where there is no number, which no server should send.
    public var type: ItemType? { self["type"]?.int.map(ItemType.init) }
    public var organizationID: String? { self["organizationId"]?.string }
    public var folderID: String? { self["folderId"]?.string }
    public var collectionIDs: [String] {
        self["collectionIds"]?.array?.compactMap(\.string) ?? []
    }
    public var isFavorite: Bool { self["favorite"]?.bool ?? false }

    /// The item's own key, wrapped by its owner's.
    public var key: String? { self["key"]?.string }

    /// Upstream's stamps, spelled as it spells them.
    public var revisionDate: String? { self["revisionDate"]?.string }
    public var creationDate: String? { self["creationDate"]?.string }
    public var deletedDate: String? { self["deletedDate"]?.string }
    public var archivedDate: String? { self["archivedDate"]?.string }

    /// The same, read.
    public var revision: Revision? { revisionDate.flatMap { Revision($0) } }
    public var creation: Revision? { creationDate.flatMap { Revision($0) } }

    public var isInTrash: Bool { deletedDate != nil }
    public var isArchived: Bool { archivedDate != nil }

    /// Whether an organisation lets the user see the passwords.
    public var showsPasswords: Bool { self["viewPassword"]?.bool ?? true }

    public var attachmentIDs: [String] {
        self["attachments"]?.array?.compactMap { $0[anyCase: "id"]?.string } ?? []
    }

    /// Whether a file is under the key of whoever owns the item, as all were before 2018.
    public var hasFilesWithoutKey: Bool {
        self["attachments"]?.array?.contains { $0[anyCase: "key"]?.string == nil } ?? false
    }

    /// Whether all of the content is in one piece that only accounts of version 2 can open.
    public var isBlob: Bool {
        (self["name"]?.isNull ?? true) && self["data"]?.kind == .string
    }

    subscript(name: String) -> JSON.Value? {
        document.root[anyCase: name]
    }
}

extension Cipher: Hashable {
    public static func == (one: Cipher, other: Cipher) -> Bool { one.bytes == other.bytes }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension Cipher: CustomStringConvertible {
    public var description: String { "a cipher of \(bytes.count) bytes" }
}

/// Why a text is no cipher.
public enum NotACipher: Error, Hashable, Sendable, CustomStringConvertible {
    case notJSON(JSON.Failure)
    case notAnObject

    public var description: String {
        switch self {
        case .notJSON(let failure): failure.description
        case .notAnObject: "A cipher must be a JSON object."
        }
    }
}
