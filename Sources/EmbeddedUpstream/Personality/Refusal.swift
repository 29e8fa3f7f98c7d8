/// Why a call is not carried out. What it is called towards the client is for ``Wording`` to say.
enum Refusal: Error, Hashable {
    enum Deed: Hashable {
        case edit
        case delete
        case trash
        case restore
        case move
        case archive
        case unarchive
    }

    case missingCipher
    /// The same, for the call that only changes folder and favourite.
    case missingCipherToPlace
    case missingFolder
    case missingSend
    case missingFile
    case missingUser
    case missingOther
    case foreignCipher
    case unknownFolder
    case forbidden(Deed)
    case stale
    case badDate
    /// A bulk call names more items than it may.
    case tooMany(Deed)
    case importTooLarge
    case organizationMismatch
    /// An item of an organisation has to be in one, by the call that names them.
    case noCollection
    case badType
    case noData
    case notArchived
    case notUnarchived
    case encryptedForOther
    case encryptedByOtherKey
    case tooLong(member: String, limit: Int)
    case notEncrypted(member: String)
    case badJSON
    case badShape(String)
    case badUUID
    case noRoute(isAPI: Bool)
    /// At the hub's place, where nothing else is spoken.
    case noWebSocket
    case wrongPassword
    case unauthorized
    case registrationRefused
    case tooLarge

    // The token call
    case wrongCredentials
    case badGrant
    case badScope(String)
    case blankField(String)
    case noVersionHeader
    case newDevice
    case wrongCode(secondsSince1970: Int64)
    case noSuchGrant
    case wrongAPIKey
}
