internal import Vault

/// What keeps a change from being brought upstream, for now or for good.
enum Halt: Error {
    case setback(Setback)
    /// The list cannot be had, which is nobody's own trouble.
    case unlisted(Setback)
    /// Not before then, and it counts as no failure.
    case wait(until: Moment)
    /// Upstream shows an earlier state than it did. The list that comes next says whether it has gone back
    /// in time; until then this waits, and it counts as no failure.
    case behind
    /// Upstream contradicts itself: this counts, and is tried again.
    case doubt(FailureNote)
    /// It can never be sent as it is.
    case unfit(FailureNote)
    /// The vault was locked since the run began.
    case locked
    /// It would give way, and its caller is told so instead.
    case overruled
    /// Somebody else has changed or removed the record.
    case overtaken
    case store(StoreError)

    /// Whether the list that ends a run may tell.
    var isAnsweredByList: Bool {
        switch self {
        case .behind, .doubt: true
        case .setback, .unlisted, .wait, .unfit, .locked, .overruled, .overtaken, .store: false
        }
    }

    /// Whether something went wrong; else it is only not done yet.
    var isFailure: Bool {
        switch self {
        case .setback, .unlisted, .behind, .doubt, .unfit, .store: true
        case .wait, .locked, .overruled, .overtaken: false
        }
    }
}

extension FailureNote {
    static let unreadable = FailureNote(
        kind: .undecodable,
        message: "The content cannot be read, so nothing of it was sent."
    )
    static let foreign = FailureNote(
        kind: .unsupported,
        message: "The change is of a kind that this version does not know."
    )
    static let keyChanged = FailureNote(
        kind: .keyChanged,
        message: "The account's key was changed since the edit; the content is under the old one."
            + " Unlock the vault with the master password. If that was changed as well, nobody can open the"
            + " content any more, and the change can only be discarded."
    )
    static let occupied = FailureNote(
        kind: .occupied,
        message: "The same item was also edited under the id that it has upstream, and that edit"
            + " was set aside. Decide on that one first, then have this one tried again."
    )
    static let unconfirmed = FailureNote(
        kind: .unconfirmed,
        message: "Upstream says that the item is gone, and its own list does not confirm it."
    )
    static let locked = FailureNote(
        kind: .locked,
        message: "The vault was locked before this could be sent."
    )
    static let behind = FailureNote(
        kind: .behind,
        message:
            "Upstream shows an earlier state than it did; it is asked again before it is believed."
    )

    static func undecryptable(_ flaw: Flaw) -> FailureNote {
        FailureNote(kind: .undecryptable, message: flaw.description)
    }
}

extension Setback.Reason {
    var retryCause: SyncMetrics.RetryCause {
        switch self {
        case .rejected(let words) where words.isOfStore: .serverError
        case .rejected, .missing, .malformed: .other
        case .stale: .conflict
        case .unauthorised, .signedOut: .auth
        case .throttled: .rateLimited
        case .unavailable: .serverError
        case .unreachable, .foreign, .cancelled: .transport
        }
    }
}
