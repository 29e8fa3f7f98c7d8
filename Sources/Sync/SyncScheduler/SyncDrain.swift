internal import Messaging
internal import System
internal import Vault

extension SyncScheduler {
    /// For so long one run brings changes upstream; then others have their turn, and the rest is a
    /// run of its own.
    static let resolvingTime = Duration.seconds(120)

    /// Brings what is pending upstream, as far as the time allows. Without keys, and with resolution
    /// switched off, everything stays as it is: base can be refreshed beneath it.
    func resolvePending(isInsistent: Bool) async throws(Finding) -> Leftovers {
        let live: Int
        do throws(StoreError) {
            live = try reader.liveCount(of: userID)
            guard canResolve, live > 0 else { return Leftovers(live: live) }
        } catch {
            return Leftovers(trouble: error)
        }
        let urgency: Urgency = isInsistent ? .insistent : .patient
        let end = surroundings.timekeeper.elapsed + Self.resolvingTime
        let isAway = monitor.standing.state == .offline
        var run = Resolver.Run(
            isInsistent ? .all : .due,
            urgency,
            unknown: isAway ? .presence : .account,
            limit: Self.resolvingTime
        )
        var hasMoved = false
        while true {
            switch try await ask(run) {
            case .failure(let error):
                let left = (try? reader.liveCount(of: userID)) ?? live
                return Leftovers(live: left, hasMoved: hasMoved, trouble: error)
            case .success(let report):
                hasMoved = hasMoved || report.tried > 0
                let isOver = report.stop != nil || report.settled == 0 || !isSomethingDue
                guard isOver || surroundings.timekeeper.elapsed >= end || isClosing else {
                    (run.reach, run.unknown) = (.due, .nothing)
                    continue
                }
                return try leftovers(of: report, hasMoved: hasMoved)
            }
        }
    }

    /// Tries one change, whatever it waits for.
    func retry(_ changeID: String) async throws(Finding) -> Leftovers {
        if let obstacle {
            throw Finding(outcome: .deferred, reason: obstacle, ending: .untouched)
        }
        switch try await ask(Resolver.Run(.only(changeID), .insistent)) {
        case .failure(let error):
            throw Finding(outcome: .failed, reason: error.description, ending: .untouched)
        case .success(let report):
            return try leftovers(of: report, hasMoved: report.tried > 0)
        }
    }

    private var isSomethingDue: Bool { nextDue().map { $0 <= surroundings.now } ?? false }

    private func ask(_ run: Resolver.Run) async throws(Finding) -> Result<RunReport, StoreError> {
        do throws(Undelivered) {
            return try await resolver.ask { .run(run, $0) }
        } catch {
            let ending: Agenda.Ending = error == .unanswered ? .failed(nil) : .untouched
            throw Finding(outcome: .failed, reason: error.description, ending: ending)
        }
    }

    /// Under the policy of the whole, changes that are left end the run, unless they wait for the very
    /// answer that would come next; so does an upstream that is away, whatever the policy.
    private func leftovers(
        of report: RunReport,
        hasMoved: Bool
    ) throws(Finding) -> Leftovers {
        let live: Int
        do throws(StoreError) {
            live = try reader.liveCount(of: userID)
        } catch {
            return Leftovers(hasMoved: hasMoved, trouble: error)
        }
        if let stop = report.stop {
            var finding = finding(stop, live: live, hasMoved: hasMoved)
            if report.settled > 0, finding.ending == .failed(nil) { finding.ending = .interrupted }
            throw finding
        }
        guard live > 0, policy.abort == .whole, !report.isInDoubt else {
            return Leftovers(live: live, hasMoved: hasMoved)
        }
        throw Finding(
            outcome: .deferred,
            reason: Self.stillPending(live),
            abort: .pending,
            ending: ending(leaving: live, hasAdvanced: report.settled > 0),
            hasMoved: hasMoved,
            live: live
        )
    }

    /// A change that could be tried and was not is tried again after a wait, as after a failure.
    func ending(leaving live: Int, hasAdvanced: Bool) -> Agenda.Ending {
        guard live > 0, canResolve else { return .done }
        guard isSomethingDue else { return .waiting }
        return hasAdvanced ? .unfinished : .failed(nil)
    }
}
