/// What upstream is asked for. Errors and figures are told apart by it.
public enum Operation: String, CaseIterable, Hashable, Sendable {
    case prelogin, token, sendTwoFactorCode
    case config, alive, revisionDate, sync, profile, domains, publicKey

    case listCiphers, getCipher, createCipher, updateCipher, movePartial
    case trashCipher, restoreCipher, deleteCipher, archiveCipher, unarchiveCipher
    case shareCipher, changeCollections

    case getFolder, createFolder, updateFolder, deleteFolder

    case createAttachment, uploadAttachment, renewUpload
    case findAttachment, downloadAttachment, deleteAttachment

    case getSend, createSend, updateSend, deleteSend, removeSendPassword

    /// The line on which upstream tells what happens.
    case hub

    /// As it stands in a sentence.
    var words: String { Self.words[self] ?? rawValue }

    /// Every request needs its own, so they are made once.
    private static let words = Dictionary(
        uniqueKeysWithValues: allCases.map { operation in
            if let words = operation.sentence { return (operation, words) }
            let words = operation.rawValue.reduce(into: "") { words, letter in
                words += letter.isUppercase ? " \(letter.lowercased())" : "\(letter)"
            }
            return (operation, words)
        }
    )

    /// For those whose own names do not say what is done.
    private var sentence: String? {
        switch self {
        case .prelogin: "ask how to sign in"
        case .token: "renew the session"
        case .config: "read how the server is set up"
        case .alive: "ask whether the server is there"
        case .revisionDate: "ask whether anything is new"
        case .profile: "look at the account"
        case .domains: "read the equivalent domains"
        case .publicKey: "read a user's public key"
        case .hub: "listen to the server"
        default: nil
        }
    }
}
