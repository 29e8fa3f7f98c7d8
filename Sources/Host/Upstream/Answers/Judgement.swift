import Bitwarden
import HTTP
import JSON
import Vault

/// What an answer, or the lack of one, comes to.
enum Judgement: Hashable, Sendable {
    case accepted
    /// How long it is to be left alone is settled by the budget, which knows what went before.
    case throttled(RetryAfter?, mayHaveLanded: Bool)
    case setback(Setback)
}

extension Judgement {
    /// Whether it did not come from Bitwarden, but from a captive portal or the like.
    var isStrangers: Bool {
        if case .setback(let setback) = self, case .foreign = setback.reason { true } else { false }
    }

    /// - Parameter body: What came, as far as it was kept: of a file that is streamed, nothing.
    init(
        status: Int,
        headers: Headers,
        body: [UInt8],
        of call: Call,
        now: Int64
    ) {
        let wait = RetryAfter(headers, now: now)
        let kind = StatusKind(status, waits: wait != nil)
        let type = headers["Content-Type"]
        let tongue =
            kind == .success
            ? Tongue(ofSuccess: body, type: type) : Tongue(ofError: body, type: type)
        // A success refuses nothing, so nothing of it is kept.
        let rejection =
            kind == .success
            ? Rejection(status: status, message: "")
            : Rejection(status: status, tongue: tongue, body: body)
        let verdict =
            call.isUnknown(status, tongue)
            ? .rejected
            : Verdict(
                kind,
                tongue,
                about: call.subject,
                expecting: call.expectation,
                isSigned: call.isSigned,
                rejection: rejection
            )
        let mayHaveLanded = call.isWrite && kind.mayHaveLanded
        func setback(_ reason: Setback.Reason) -> Judgement {
            let operation = call.operation.words
            return .setback(
                Setback(reason, operation: operation, mayHaveLanded: mayHaveLanded)
            )
        }
        self =
            switch verdict {
            case .accepted: .accepted
            case .rejected: setback(.rejected(rejection))
            case .stale: setback(.stale(rejection))
            case .missing: setback(.missing(rejection))
            case .unauthorised: setback(.unauthorised)
            case .throttled: .throttled(wait, mayHaveLanded: mayHaveLanded)
            case .unavailable: setback(.unavailable(status: status))
            case .redirected: setback(.foreign(.redirect(to: headers["Location"].flatMap(origin))))
            case .foreignPage: setback(.foreign(.page(status: status)))
            case .foreignAnswer: setback(.foreign(.answer(status: status)))
            case .malformed:
                setback(.malformed("the body is \(tongue == .nothing ? "" : "not ")empty"))
            }
    }
}

extension Call {
    /// Whether this is how Bitwarden before 2025.9 says that it does not know what an archive is; whoever asks looks
    /// whether it was somebody on the way. Any other empty 404 may well be theirs, for there is no call that all of its
    /// versions have not.
    fileprivate func isUnknown(_ status: Int, _ tongue: Tongue) -> Bool {
        [.archiveCipher, .unarchiveCipher].contains(operation) && status == 404
            && tongue == .nothing
    }
}

extension Setback {
    /// What the lack of an answer comes to.
    init(_ failure: NetworkFailure, of call: Call) {
        let reason: Setback.Reason =
            switch failure.kind {
            case .cancelled: .cancelled
            case .tooLarge: .malformed(failure.text)
            case .lost, .refused, .ours: .unreachable(.tried(failure.text))
            case .exhausted: .unreachable(.exhausted(failure.text))
            }
        self.init(
            reason,
            operation: call.operation.words,
            mayHaveLanded: call.isWrite && failure.isOutcomeUnknown
        )
    }
}

extension StatusKind {
    /// Whether the server may have acted before, or instead of, saying this. Somebody who failed may
    /// have failed afterwards, and a success in a foreign tongue may be a success whose answer got lost.
    fileprivate var mayHaveLanded: Bool {
        switch self {
        case .success, .failed, .waiting: true
        case .redirect, .unauthorised, .hidden, .conflict, .proxied, .unprocessed, .throttled,
            .refused, .portal, .impossible:
            false
        }
    }
}

extension Rejection {
    fileprivate init(status: Int, tongue: Tongue, body: [UInt8]) {
        let words: ErrorEnvelope? =
            switch tongue {
            case .api(let words), .framework(let words): words
            case .json: (try? JSON.Document(body)).map { ErrorEnvelope(json: $0.root) }
            case .page, .text, .nothing: nil
            }
        self.init(
            status: status,
            message: words?.message ?? "Upstream gives no reason (\(status)).",
            complaints: words?.validationErrors ?? [],
            body: Array(body.prefix(Self.keptBytes))
        )
    }

    /// More than any error of the API has.
    private static let keptBytes = 16 << 10
}

/// Scheme, host and port of a URL; its path and query may hold secrets.
private func origin(_ url: String) -> String? {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty else { return nil }
    let place = parts[2].prefix { $0 != "?" && $0 != "#" }
    guard !place.contains("@") else { return nil }
    return "\(parts[0])//\(place)"
}
