public import Crypto

extension Snapshot {
    /// Freezes a cipher that was sealed with the account's keys.
    public init(_ cipher: Cipher, keys: KeyRing) {
        self.init(json: cipher.bytes, keyFingerprint: Self.fingerprint(of: keys.user))
    }

    /// By what a key is known in a snapshot: the digits of its id.
    public static func fingerprint(of key: Sealer) -> [UInt8] {
        Array(key.keyID.description.utf8)
    }
}

extension Edit {
    /// What is written down before an edit that stands alone is sent at once.
    public var attempt: Attempt {
        Attempt(wish.attempt, at: moment, of: wish.content)
    }
}

extension Edit.Wish {
    fileprivate var attempt: Attempt.Kind {
        switch self {
        case .add: .create
        case .update: .update
        case .trash: .trash
        case .restore: .restore
        case .archive: .archive
        case .unarchive: .unarchive
        case .move, .favour, .place: .partial
        case .hardDelete: .hardDelete
        }
    }

    fileprivate var content: Cipher? {
        switch self {
        case .add(let snapshot), .update(let snapshot, _): try? Cipher(snapshot.json)
        case .trash, .restore, .archive, .unarchive, .move, .favour, .place, .hardDelete:
            nil
        }
    }
}
