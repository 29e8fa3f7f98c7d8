public import Vault

extension BaseCipher {
    /// What upstream says of a cipher, as it is kept.
    ///
    /// - Returns: Nil if the answer has no id or no revision, which no cipher of upstream's is without.
    public init?(_ cipher: Cipher, of userID: String) {
        guard let id = cipher.id, let revision = cipher.revision
        else { return nil }
        self.init(
            lane: Lane(userID: userID, cipherID: id),
            revision: revision,
            isTrashed: cipher.isInTrash,
            isArchived: cipher.isArchived,
            organizationID: cipher.organizationID,
            json: cipher.bytes
        )
    }
}
