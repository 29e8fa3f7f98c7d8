import Vault

/// What a status and the language of its body mean together, for one kind of call.
enum Verdict: Hashable, Sendable {
    case accepted
    case rejected, stale, missing
    case unauthorised
    case throttled
    case unavailable
    case redirected
    case foreignPage, foreignAnswer
    case malformed
}

/// What a call must be answered with to have succeeded.
enum Expectation: Hashable, Sendable, CaseIterable {
    /// JSON, whose shape is checked by whoever reads it.
    case json
    /// No more than the status.
    case nothing
    /// The status and no body: whoever answers with JSON is somebody else, whatever the status.
    case silence
    /// The bytes of a file.
    case file
}

/// What a call is about, which decides how its absence is worded.
enum Subject: Hashable, Sendable, CaseIterable {
    case none, cipher, folder, file, send, user

    /// Bitwarden says 404. Vaultwarden says 400, in the words of the thing that is not there.
    func isMissing(_ rejection: Rejection) -> Bool {
        switch self {
        case .none: false
        case .cipher: rejection.isAbout("cipher")
        case .folder: rejection.says("invalid folder") || rejection.isAbout("folder")
        case .file: rejection.isAbout("attachment") || rejection.isAbout("cipher")
        case .send: rejection.isAbout("send")
        case .user: rejection.isAbout("user")
        }
    }
}

extension Rejection {
    fileprivate func isAbout(_ thing: String) -> Bool {
        says(thing)
            && ["doesn't exist", "does not exist", "not found", "is not owned by"].contains {
                says($0)
            }
    }
}

/// The statuses, put together by what they mean.
enum StatusKind: Hashable, Sendable, CaseIterable {
    case success, redirect
    case unauthorised, hidden, conflict, proxied, unprocessed, throttled, refused
    case portal, waiting, failed
    case impossible

    /// `waits` is whether the answer says when to come again.
    init(_ status: Int, waits: Bool) {
        switch status {
        case 200...299: self = .success
        case 300...399: self = .redirect
        case 401: self = .unauthorised
        case 403, 404: self = .hidden
        case 407: self = .proxied
        case 408, 425: self = .unprocessed
        case 409: self = .conflict
        case 429: self = .throttled
        case 400...499: self = .refused
        case 503 where waits: self = .waiting
        case 511: self = .portal
        case 500...599: self = .failed
        default: self = .impossible
        }
    }
}

extension Verdict {
    /// The table. Errors are told apart by their status first, so that an outage stays one whatever
    /// its body says; and what answers 403 or 404 without speaking the API's language is not the
    /// API, so nothing is given up on its word.
    init(
        _ kind: StatusKind,
        _ tongue: Tongue,
        about subject: Subject,
        expecting expectation: Expectation,
        isSigned: Bool,
        rejection: Rejection
    ) {
        self =
            switch (kind, tongue) {
            case (.success, _): Self.success(tongue, expectation)
            case (.redirect, _): .redirected

            case (.unauthorised, _) where isSigned: .unauthorised
            case (.unauthorised, .api), (.unauthorised, .framework): .rejected
            case (.unauthorised, .nothing): .rejected
            case (.unauthorised, _): .foreignPage
            case (.throttled, _), (.waiting, _): .throttled
            case (.unprocessed, _), (.failed, _): .unavailable

            case (.portal, _), (.impossible, _): .foreignAnswer
            case (.proxied, .page): .foreignPage
            case (.proxied, _): .foreignAnswer

            case (.hidden, .api):
                rejection.status == 404 && subject != .none ? .missing : .rejected
            case (.hidden, .framework): .rejected
            case (.hidden, .page), (.hidden, .text): .foreignPage
            case (.hidden, .json), (.hidden, .nothing): .foreignAnswer

            case (.conflict, _): rejection.says("out of date") ? .stale : .conflict(subject)
            case (.refused, _) where rejection.says("out of date"): .stale
            case (.refused, .api):
                rejection.status == 400 && subject.isMissing(rejection) ? .missing : .rejected
            case (.refused, _): .rejected
            }
    }

    /// A conflict over a cipher is about its revision; of anything else, it is a refusal.
    private static func conflict(_ subject: Subject) -> Verdict {
        subject == .cipher ? .stale : .rejected
    }

    private static func success(_ tongue: Tongue, _ expectation: Expectation) -> Verdict {
        switch (expectation, tongue) {
        case (.json, .json), (.json, .api), (.json, .framework): .accepted
        case (.json, .nothing): .malformed
        case (.nothing, .nothing): .accepted
        case (.nothing, .json), (.nothing, .api), (.nothing, .framework): .accepted
        case (.silence, .nothing): .accepted
        case (.silence, .json), (.silence, .api), (.silence, .framework): .malformed
        case (.file, .page): .foreignPage
        case (.file, _): .accepted
        case (_, .page): .foreignPage
        case (_, .text): .foreignAnswer
        }
    }
}
