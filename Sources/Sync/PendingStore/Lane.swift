/// What must happen in order: everything about one cipher of one account.
public struct Lane: Hashable, Sendable {
    public let userID: String
    public let cipherID: String

    public init(userID: String, cipherID: String) {
        self.userID = userID
        self.cipherID = cipherID
    }
}
