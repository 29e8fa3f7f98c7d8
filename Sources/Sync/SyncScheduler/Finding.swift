internal import Vault

/// What a run came to: for those who wait, for what is counted, and for the next run.
///
/// Thrown where a run cannot go on.
struct Finding: Error, Sendable {
    var outcome: SyncReport.Outcome
    var reason: String?
    var setback: Setback?
    var trouble: StoreError?
    var abort: SyncMetrics.AbortReason?
    var ending: Agenda.Ending
    /// Whether any change was tried.
    var hasMoved = false
    /// How many changes were still pending, for the log.
    var live = 0

    /// There was nothing to send, and no turn to ask anything: it comes to pass later.
    var isPutOff: Bool {
        guard case .paced = ending else { return false }
        return outcome == .failed
    }
}

/// What is left of what was pending when a run comes to the refresh.
struct Leftovers: Sendable {
    var live = 0
    var hasMoved = false
    /// What is pending could not be read. Base may be refreshed all the same; nobody is told that
    /// all is well.
    var trouble: StoreError?
}

extension Setback {
    /// Why a sync that this stopped took nothing over, if it is one of the reasons that are counted.
    var abort: SyncMetrics.AbortReason? {
        switch reason {
        case .unauthorised, .signedOut: .auth
        case .malformed: .decode
        case .rejected, .stale, .missing, .throttled, .unavailable, .unreachable, .foreign,
            .cancelled:
            nil
        }
    }
}

extension SyncScheduler {
    func ending(after setback: Setback) -> Agenda.Ending {
        switch setback.reason {
        case .throttled(let until, .asked): .failed(.throttled(until: elapsed(of: until)))
        case .throttled(let until, .guessed): .failed(.held(until: elapsed(of: until)))
        case .throttled(let until, .paced): .paced(until: elapsed(of: until))
        case .unreachable(.held(let until)): .failed(.held(until: elapsed(of: until)))
        case .signedOut: .signedOut
        case .cancelled: .untouched
        case .rejected, .stale, .missing, .unauthorised, .unavailable, .unreachable(.tried),
            .unreachable(.exhausted), .foreign, .malformed:
            .failed(nil)
        }
    }

    /// Upstream stood in the way. While changes are pending that only puts things off, also until a person
    /// signs in again.
    func finding(_ setback: Setback, live: Int, hasMoved: Bool = false) -> Finding {
        Finding(
            outcome: live > 0 ? .deferred : .failed,
            reason: live > 0 ? "\(Self.stillPending(live)) \(setback)" : setback.description,
            setback: setback,
            abort: setback.abort ?? (live > 0 && policy.abort == .whole ? .pending : nil),
            ending: ending(after: setback),
            hasMoved: hasMoved,
            live: live
        )
    }

    static func stillPending(_ live: Int) -> String {
        live == 1 ? "A change is still pending." : "\(live) changes are still pending."
    }
}
