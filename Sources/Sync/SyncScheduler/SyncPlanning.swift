internal import Logging
internal import Messaging
internal import System
internal import Vault

extension SyncScheduler {
    /// Moments of the calendar, which outlive the process, as time that passes, which nobody sets.
    func elapsed(of moment: Moment) -> Duration {
        surroundings.timekeeper.elapsed + (moment - surroundings.now)
    }

    func moment(of elapsed: Duration) -> Moment {
        surroundings.now + (elapsed - surroundings.timekeeper.elapsed)
    }

    func plan(at now: Duration) -> Plan {
        let (agenda, isUnderWay) = state.withLock { ($0.docket.agenda, $0.docket.underWay != nil) }
        let wait = agenda.wait.flatMap { $0.until > now ? $0.until : nil }
        return Plan(
            next: isUnderWay ? nil : agenda.next.map { moment(of: $0.moment) },
            heldUntil: [wait, agenda.hold(at: now)].compactMap(\.self).max().map(moment)
        )
    }

    /// Whether what is pending can be brought upstream at all.
    var canResolve: Bool { obstacle == nil }

    /// What keeps all that is pending here, whatever upstream says.
    var obstacle: String? {
        if keys.isLocked { return "The vault is locked." }
        return switches.now.resolution ? nil : "Resolution is switched off."
    }

    /// When the next change may be tried on its own account. What waits for keys waits for no time.
    func nextDue() -> Moment? {
        guard canResolve else { return nil }
        let due = (try? reader.nextDue(of: userID)) ?? nil
        let now = surroundings.now
        return due.map { $0.hasCome(at: now) ? min($0, now) : $0 }
    }

    /// When the last of those that wait because they failed may be tried.
    func latestDue() -> Moment? {
        guard canResolve, let due = (try? reader.latestDue(of: userID)) ?? nil else { return nil }
        return due.hasCome(at: surroundings.now) ? nil : due
    }

    /// An account that was never synced waits for its sign-in to say so, but not for ever.
    func restore(_ memory: SyncMemory) {
        let now = surroundings.timekeeper.elapsed
        let since = memory.lastReport.map { elapsed(of: $0.ended) }
        let jitter = 0.9 + 0.2 * surroundings.chance.fraction()
        let interval = since.map { max(now, min($0, now) + policy.interval * jitter) }
        let (due, latest, calendar) = (nextDue(), latestDue(), surroundings.now)
        state.withLock {
            $0.due = due
            $0.waits.see(latest, at: calendar)
            $0.docket.restore { agenda in
                agenda.restore(
                    hold: memory.hold.map(elapsed(of:)),
                    wait: memory.retry.map { retry in
                        // A clock that was set does not make a wait longer.
                        let length = memory.wait ?? .zero
                        return Agenda.Wait(
                            until: min(elapsed(of: retry), now + length),
                            length: length
                        )
                    },
                    failures: memory.failures,
                    due: due.map { max(now, elapsed(of: $0)) },
                    secondLook: memory.doubt.map {
                        min(elapsed(of: $0.since), now) + Agenda.secondThought
                    },
                    interval: interval ?? now + Self.patienceWithSignIn,
                    at: now
                )
            }
        }
    }

    static let patienceWithSignIn = Duration.seconds(30)

    /// How many changes wait to be brought upstream.
    func waitingCount() -> Int {
        canResolve ? (try? reader.liveCount(of: userID)) ?? 0 : 0
    }

    /// One more that waits is no news then.
    var isKnownToWait: Bool { state.withLock { $0.told == true } }

    /// Tells the monitor whether anything waits for the network, if that is news. Until upstream's own
    /// "not before" it is upstream that is waited for, and no probe is to disturb it.
    ///
    /// - Parameter isCertain: That something waits was seen just now, and is not asked again.
    func tellWhetherWaiting(isCertain: Bool = false) {
        let now = surroundings.timekeeper.elapsed
        // Counted under the lock: what is queued meanwhile is counted, or finds that it is news.
        state.withLock { state in
            let isHeld = state.docket.agenda.hold(at: now) != nil
            let waits = !isHeld && (isCertain || waitingCount() > 0)
            guard state.told != waits else { return }
            let word = NetworkMonitor.Message.waits(userID: userID, waits)
            if (try? monitor.address.tryTell(word)) != nil { state.told = waits }
        }
    }

    func lookForStandstill() {
        let now = surroundings.timekeeper.elapsed
        let standing = monitor.standing
        let onlineSince = standing.state == .online ? elapsed(of: standing.since) : nil
        let waiting = waitingCount()
        let finding = state.withLock {
            $0.docket.look(at: now, waiting: waiting, onlineSince: onlineSince)
        }
        guard case .stuck(let isNews) = finding else { return }
        // One that only stands in line has waited long enough.
        if surroundings.runs.hurry(userID) { return }
        surroundings.metrics.stoodStill()
        if isNews {
            surroundings.log.error(
                "Changes wait and upstream can be reached, but nothing moves: beginning anew.",
                ["account": userID, "pending": waiting]
            )
        }
        beginAnew(at: now)
    }
}
