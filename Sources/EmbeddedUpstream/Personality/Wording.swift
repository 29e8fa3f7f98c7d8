import Bitwarden
import HTTP
import Vault

/// What a refusal looks like: status, shape and words.
struct Wording: Sendable {
    let answer: @Sendable (Refusal) -> Reply

    static let bitwarden = Wording { refusal in
        switch refusal {
        case .missingCipher, .missingCipherToPlace, .missingFolder, .missingSend, .missingFile,
            .missingUser, .missingOther, .foreignCipher, .badUUID:
            .bitwarden("Resource not found.", .notFound)
        case .noRoute: Reply(.notFound)
        case .noWebSocket: .plain(.badRequest, "Connection ID required")
        case .unauthorized: Reply(.unauthorized)
        case .tooLong(let member, let limit):
            .model(
                member,
                "The field \(member) exceeds the maximum encrypted value length of \(limit) characters."
            )
        case .notEncrypted(let member):
            .model(member, "\(member) is not a valid encrypted string.")
        case .badJSON: .model("$", "The JSON value could not be converted.")
        case .badShape(let reason): .model("", reason)
        case .noCollection: .model("CollectionIds", "You must select at least one collection.")
        case .badDate: .model("LastKnownRevisionDate", "The value is no date.")
        case .noVersionHeader: .oauth("version_header_missing", nil)
        case .wrongCredentials:
            .oauth(
                "invalid_grant",
                "invalid_username_or_password",
                model: "Username or password is incorrect. Try again."
            )
        case .wrongCode:
            .oauth(
                "invalid_grant",
                "invalid_username_or_password",
                model: "Two-step token is invalid. Try again."
            )
        case .newDevice:
            .oauth(
                "device_error",
                "New device verification required",
                model: "new device verification required"
            )
        case .noSuchGrant: .oauth("invalid_grant", nil)
        case .badGrant: .oauth("unsupported_grant_type", nil)
        case .badScope: .oauth("invalid_scope", nil)
        case .wrongAPIKey: .oauth("invalid_client", nil)
        case .blankField(let name): .oauth("invalid_request", "\(name) is missing")
        case .tooLarge: Reply(.contentTooLarge)
        default: .bitwarden(bitwardenWords(refusal), .badRequest)
        }
    }

    static let vaultwarden = Wording { refusal in
        switch refusal {
        case .unauthorized:
            .page(.unauthorized, "Unauthorized", "The request requires user authentication.")
        case .badJSON, .noWebSocket:
            .page(
                .badRequest,
                "Bad Request",
                "The request could not be understood by the server due to malformed syntax."
            )
        case .badShape, .badUUID:
            .page(
                Status(rawValue: 422),
                "Unprocessable Entity",
                "The request was well-formed but was unable to be followed due to semantic errors."
            )
        case .noRoute(isAPI: true): .framework(.notFound)
        case .noRoute(isAPI: false):
            .page(.notFound, "Not Found", "The requested resource could not be found.")
        case .noSuchGrant: .oauth("invalid_grant", nil)
        case .tooLarge:
            .page(
                .contentTooLarge,
                "Payload Too Large",
                "The request is larger than the server is willing or able to process."
            )
        case .missingUser: .vaultwarden(vaultwardenWords(refusal), .notFound)
        default: .vaultwarden(vaultwardenWords(refusal))
        }
    }
}

private func bitwardenWords(_ refusal: Refusal) -> String {
    switch refusal {
    case .stale:
        "The item cannot be saved because it is out of date. To edit this item, first sync your vault, or log out and back in."
    case .organizationMismatch:
        "Organization mismatch. Re-sync if you recently moved this item, then try again."
    case .forbidden(let deed): "You do not have permissions to \(deed.bitwardenWord) this."
    case .tooMany(let deed):
        "You can only \(deed.bitwardenWord) up to 500 items at a time."
    case .importTooLarge: "You cannot import this much data at once."
    case .unknownFolder: "Invalid folder."
    case .badType: "Unsupported cipher type."
    case .noData: "The item has no data."
    case .notArchived:
        "Cipher was not archived. Ensure the provided ID is correct and you have permission to archive it."
    case .notUnarchived:
        "Cipher was not unarchived. Ensure the provided ID is correct and you have permission to archive it."
    case .encryptedForOther:
        "Cipher was not encrypted for the current user. Please try again."
    case .encryptedByOtherKey:
        "Cipher was not encrypted with the current user key. Please try again."
    case .wrongPassword: "Invalid password."
    case .registrationRefused: "Email is already taken."
    default: "The request is invalid."
    }
}

extension Refusal.Deed {
    fileprivate var bitwardenWord: String {
        switch self {
        case .edit: "edit"
        case .delete: "delete"
        case .trash: "soft delete"
        case .restore: "restore"
        case .move: "move"
        case .archive: "archive"
        case .unarchive: "unarchive"
        }
    }
}

private func vaultwardenWords(_ refusal: Refusal) -> String {
    switch refusal {
    case .missingCipher: "Cipher doesn't exist"
    case .missingCipherToPlace: "Cipher does not exist"
    case .foreignCipher: "Cipher is not owned by user"
    case .missingFolder, .unknownFolder: "Invalid folder"
    case .missingSend: "Send not found"
    case .missingFile: "Attachment doesn't exist"
    case .missingUser: "User doesn't exist"
    case .missingOther: "Not found"
    case .noCollection: "You must select at least one collection."
    case .stale: "The client copy of this cipher is out of date. Resync the client and try again."
    case .organizationMismatch:
        "Organization mismatch. Please resync the client before updating the cipher"
    case .forbidden(.delete), .forbidden(.trash): "Cipher can't be deleted by user"
    case .forbidden(.restore): "Cipher can't be restored by user"
    case .forbidden: "Cipher is not write accessible"
    case .badType, .badGrant: "Invalid type"
    case .noData: "Data missing"
    case .tooLong(let member, let limit):
        "The field \(member) exceeds the maximum encrypted value length of \(limit) characters."
    case .wrongPassword: "Invalid password"
    case .registrationRefused: "Registration not allowed or user already exists"
    case .wrongCredentials: "Username or password is incorrect. Try again"
    case .wrongAPIKey: "Incorrect client_secret"
    case .badScope(let scope): "Scope (\(scope)) not supported"
    case .blankField(let name): "\(name) cannot be blank"
    case .wrongCode(let seconds):
        "Invalid TOTP code! Server time: \(Stamp.readable(Moment(ticks: seconds * Moment.ticksPerSecond))) UTC IP: 127.0.0.1"
    default: "Invalid request"
    }
}

extension Stamp {
    /// `2026-01-05 08:12:44`
    static func readable(_ moment: Moment) -> String {
        let text = Self.text(moment, digits: 0, padded: true)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }
}
