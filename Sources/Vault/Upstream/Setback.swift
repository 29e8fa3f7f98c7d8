/// Why upstream did not do what it was asked, as far as that can be known.
///
/// Every answer that is no success, and every way to get none, is one of these. What is thrown
/// says three things apart: what happened (``reason``), whether it may have been done all the same
/// (``mayHaveLanded``), and whose trouble it is (``failureClass``).
public struct Setback: Error, Hashable, Sendable {
    public let reason: Reason
    /// What was asked, in a word or two: "update cipher".
    public let operation: String
    /// Whether a write may have been done although no answer says so. Then upstream is to be looked
    /// at before the same is sent again.
    public let mayHaveLanded: Bool

    public init(_ reason: Reason, operation: String, mayHaveLanded: Bool = false) {
        self.reason = reason
        self.operation = operation
        self.mayHaveLanded = mayHaveLanded
    }

    /// Why something has to wait. Only what upstream has asked for holds up those who insist.
    public enum Limit: Hashable, Sendable {
        /// Upstream has said until when.
        case asked
        /// It has refused what was too much, and not said until when.
        case guessed
        /// It was not asked: what it is known to take at a time is used up.
        case paced
    }

    public enum Reason: Hashable, Sendable {
        /// Upstream understood, and will not.
        case rejected(Rejection)
        /// Somebody else changed the cipher since the revision that was sent along.
        case stale(Rejection)
        /// Upstream does not have it, or does not show it to this user, which it words alike. Only
        /// an item list of the right account tells for sure.
        case missing(Rejection)
        /// The access token is not taken, and a new one is not either.
        case unauthorised
        /// Upstream refused to renew the session: the user has to sign in again. What is kept here
        /// stays.
        case signedOut
        /// Not before then.
        case throttled(until: Moment, Limit = .asked)
        /// Upstream, or what stands before it, is there and cannot work.
        case unavailable(status: Int)
        /// There is no answer.
        case unreachable(Unreachability)
        /// Something answers that is not Bitwarden: a captive portal, a ban page, a wrong address.
        case foreign(Foreign)
        /// It looks like a success, and what it says cannot be understood.
        case malformed(String)
        /// The asking task was cancelled.
        case cancelled
    }

    /// Why there is no answer.
    public enum Unreachability: Hashable, Sendable {
        /// Tried, and in the transport's own words.
        case tried(String)
        /// Not tried, for this host has no descriptor or no memory left; in the transport's own words. It says
        /// nothing of upstream.
        case exhausted(String)
        /// Not tried at all, because the last ones failed; one of us is trying, or will be then.
        case held(until: Moment)
    }

    /// What answered in place of Bitwarden.
    public enum Foreign: Hashable, Sendable {
        /// It wants to be asked elsewhere; scheme, host and port of where, if it says.
        case redirect(to: String?)
        /// A page for people.
        case page(status: Int)
        /// Some other answer that the API does not give.
        case answer(status: Int)
    }
}

extension Setback {
    /// Upstream's own words, where it gave any.
    public var rejection: Rejection? {
        switch reason {
        case .rejected(let words), .stale(let words), .missing(let words): words
        case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable, .foreign,
            .malformed, .cancelled:
            nil
        }
    }

    public var failureClass: FailureClass {
        switch reason {
        case .rejected(let words) where words.isOfStore: .transient
        case .rejected, .missing: .permanent
        case .stale, .unavailable(500): .transient
        case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable, .foreign,
            .malformed, .cancelled:
            .batch
        }
    }

    /// Whether it may have met this request alone, and everything else would be answered: what stands on the
    /// way judges some contents and not others.
    public var mayBeOfOne: Bool {
        switch reason {
        case .unavailable(let status): status != 503
        case .unauthorised, .unreachable(.tried), .foreign, .malformed: true
        case .rejected, .stale, .missing, .signedOut, .throttled, .unreachable(.held),
            .unreachable(.exhausted), .cancelled:
            false
        }
    }

    /// Whether something smaller may be asked right away, to see whether that is answered. Whoever was told to come
    /// later, or is banned, keeps still.
    public var letsOthersBeAsked: Bool {
        switch reason {
        case .foreign(let answer): answer != .page(status: 403)
        case .rejected, .stale, .missing, .unauthorised, .unavailable, .unreachable(.tried),
            .malformed:
            true
        case .signedOut, .throttled, .unreachable(.held), .unreachable(.exhausted), .cancelled:
            false
        }
    }

    /// Whether an edit's first attempt, failed so, leaves the edit to wait for a better moment. Else
    /// it is the caller's to hear.
    public var letsAnEditWait: Bool {
        switch reason {
        case .throttled, .unavailable, .unreachable, .foreign, .malformed, .cancelled: true
        case .rejected, .stale, .missing, .unauthorised, .signedOut: false
        }
    }
}

/// Whose trouble a failure is, and so what it counts against.
public enum FailureClass: String, CaseIterable, Hashable, Sendable {
    /// Everybody's who talks to that upstream: the run stops, and no change is blamed.
    case batch
    /// This change's, for now: it backs off.
    case transient
    /// This change's, for good, unless a second refusal does not confirm it.
    case permanent
}

extension Setback: CustomStringConvertible {
    /// For the log and the operator: what failed, why, and what can be done.
    public var description: String { "Could not \(operation): \(reason). \(hint)" }

    public var hint: String {
        switch reason {
        case .rejected(let words) where words.isOfStore: "Look after upstream's database."
        case .rejected: "What upstream says tells what to change."
        case .missing: "Look at the item."
        case .stale: "It will be compared anew."
        case .unauthorised, .signedOut: "Sign in again."
        case .throttled, .unavailable, .unreachable(.held), .cancelled: "It can be tried later."
        case .unreachable(.tried): "Check the network and the server."
        case .unreachable(.exhausted): "Check the limits of this host (open files, memory)."
        case .foreign(.redirect): "Check the server's address; give the one it leads to."
        case .foreign(.page): "A portal, a proxy or a ban may be in between; check the network."
        case .foreign(.answer), .malformed:
            "Check that the server's address is a Bitwarden server's."
        }
    }
}

extension Setback.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let words): "upstream refuses (\(words))"
        case .stale(let words): "upstream holds a newer copy (\(words))"
        case .missing(let words): "upstream does not have it (\(words))"
        case .unauthorised: "upstream does not take the token"
        case .signedOut: "upstream has ended the session"
        case .throttled(_, .asked), .throttled(_, .guessed): "upstream asks for patience"
        case .throttled(_, .paced):
            "it was not sent yet, because upstream takes only so much at a time"
        case .unavailable(let status): "upstream cannot work at the moment (\(status))"
        case .unreachable(.tried(let text)), .unreachable(.exhausted(let text)): text
        case .unreachable(.held): "upstream was not reached just now, so it was not tried"
        case .foreign(.redirect(let place)): "the address leads elsewhere (\(place ?? "nowhere"))"
        case .foreign(.page(let status)): "a web page answers (\(status))"
        case .foreign(.answer(let status)): "what answers is not Bitwarden (\(status))"
        case .malformed(let text): "the answer cannot be understood (\(text))"
        case .cancelled: "cancelled"
        }
    }
}
