import HTTP
import JSON
import Sync

/// Why the API answers no by itself, without asking a desk.
enum Declined: Error {
    /// What was meant could be any of these.
    case ambiguous([String])
    /// The caller's token is for another account.
    case otherAccount
    /// The body is not what it is declared to be.
    case notJSON

    var response: Response {
        switch self {
        case .ambiguous(let ids):
            .failure(
                """
                More than one result was found. Try getting a specific object by `id` instead. \
                The following objects were found:

                """ + ids.joined(separator: "\n"),
                data: ids
            )
        case .otherAccount:
            .failure("This token is for another account only.", .forbidden)
        case .notJSON: .text("Bad Request", status: .badRequest)
        }
    }
}

extension Response {
    /// What could not be done, in the words that clients know.
    static func refusing(_ refusal: DeskRefusal) -> Response {
        var response = json(
            .object {
                $0.add("success", false)
                $0.add("message", refusal.description)
                switch refusal {
                case .needsSecondFactor(let providers): $0.add("twoFactorProviders", providers)
                case .needsNewDeviceCode: $0.add("needsNewDeviceOtp", true)
                case .noAccount, .locked, .wrongPassword, .notFound, .notAllowed, .unfit,
                    .upstream, .noRoom, .store, .unsettled, .busy:
                    break
                }
            },
            refusal.status
        )
        if case .busy = refusal { response.headers["Retry-After"] = "1" }
        return response
    }
}

extension DeskRefusal {
    var status: Status {
        switch self {
        case .noRoom: .insufficientStorage
        case .store(.queueFull), .store(.notAccepting): .insufficientStorage
        case .store(.noAccount): .badRequest
        case .store, .unsettled: .internalError
        case .busy: .unavailable
        case .noAccount, .locked, .wrongPassword, .needsSecondFactor, .needsNewDeviceCode,
            .notFound, .notAllowed, .unfit, .upstream:
            .badRequest
        }
    }
}
