/// What a call is for, by the name that faults are ordered under.
public enum Operation: String, Sendable, Hashable, CaseIterable {
    case prelogin, register, token
    case config, alive
    case sync, revisionDate, profile, publicKey
    case listCiphers, readCipher, createCipher, updateCipher, placeCipher
    case trashCipher, restoreCipher, deleteCipher, archiveCipher
    case trashCiphers, restoreCiphers, deleteCiphers, moveCiphers, importCiphers, purge
    case shareCipher
    case listFolders, readFolder, createFolder, updateFolder, deleteFolder
    case announceFile, uploadFile, readFile, downloadFile, deleteFile
    case sends
    case organizations
    case verifyPassword, apiKey, securityStamp, changePassword, changeKDF, rotateKeys, secondFactor,
        devices, deleteAccount
    case domains
    /// What clients look at and nobody here needs.
    case other
    case hub
}
