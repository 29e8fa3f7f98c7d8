public import JSON

/// All of an account, as the server has it at one moment.
///
/// It is either whole and of the right kind, or there is none: what is missing in it is gone, so a
/// login page or half an answer must never be taken for one. Ciphers, folders and so on stay the
/// bytes they came as; one that nobody can read does not harm the others.
public struct SyncAnswer: Sendable {
    public let profile: Profile
    /// The profile's own text.
    public let profileText: JSON.Raw
    /// With the members of ``picks`` at hand, as they are spelled today.
    public let ciphers: JSON.Pieces
    public let folders: JSON.Pieces
    public let collections: [JSON.Piece]
    public let sends: [JSON.Piece]
    public let policies: [JSON.Piece]
    /// Newer than what the log-in said, where the server says it.
    public let unlock: MasterPasswordUnlock?

    public static let picks = [
        "id", "revisionDate", "organizationId", "folderId", "deletedDate", "archivedDate", "object",
    ]

    public init(_ body: [UInt8]) throws(NotASync) {
        let split: JSON.Split
        do throws(JSON.Failure) {
            split = try JSON.Split(body, picking: Self.picks)
        } catch {
            throw .notJSON(error)
        }
        guard split[anyCase: "object"]?.raw.string == "sync" else { throw .otherObject }
        guard let ciphers = split[anyCase: "ciphers"]?.elements else { throw .missing("ciphers") }
        guard let folders = split[anyCase: "folders"]?.elements else { throw .missing("folders") }
        self.ciphers = ciphers
        self.folders = folders
        collections = Array(split[anyCase: "collections"]?.elements ?? nil)
        sends = Array(split[anyCase: "sends"]?.elements ?? nil)
        policies = Array(split[anyCase: "policies"]?.elements ?? nil)
        profile = try Self.read(split, "profile")
        profileText = split[anyCase: "profile"]?.raw ?? .null
        let decryption: Decryption? = try? Self.read(split, "userDecryption")
        unlock = decryption?.unlock
    }

    private static func read<Part: JSON.Readable>(
        _ split: JSON.Split,
        _ name: String
    ) throws(NotASync) -> Part {
        guard let part = split[anyCase: name] else { throw .missing(name) }
        let document: JSON.Document
        do throws(JSON.Failure) {
            document = try JSON.Document(part.raw)
        } catch {
            throw .notJSON(error)
        }
        do throws(JSON.Mismatch) {
            return try Part(json: document.root)
        } catch {
            throw .otherShape(part: name, error)
        }
    }
}

private struct Decryption: JSON.Readable {
    let unlock: MasterPasswordUnlock?

    init(json: JSON.Value) throws(JSON.Mismatch) {
        unlock = try json.read(anyCase: "masterPasswordUnlock")
    }
}

extension [JSON.Piece] {
    fileprivate init(_ pieces: JSON.Pieces?) {
        self = pieces.map { $0.map { $0 } } ?? []
    }
}

/// Why an answer is no sync, or only half of one.
public enum NotASync: Error, Sendable, Hashable, CustomStringConvertible {
    case notJSON(JSON.Failure)
    /// JSON, and something else.
    case otherObject
    case missing(String)
    case otherShape(part: String, JSON.Mismatch)

    public var description: String {
        switch self {
        case .notJSON(let failure): failure.description
        case .otherObject: "The answer is JSON, but does not call itself a sync."
        case .missing(let part): "The sync has no \(part)."
        case .otherShape(let part, let mismatch): "In the sync's \(part): \(mismatch)"
        }
    }
}
