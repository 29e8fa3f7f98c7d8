import System

/// Makes the users' edits through a host.
///
/// When an edit is due does not depend on how long those before it took: its latency counts from the
/// moment at which it should have begun. So a host that stands still for a second is a second late
/// for all who would have come in that second, and not only for the one who did.
struct Driver: Sendable {
    let host: HostSide
    let meter: Meter
    let barrier: Barrier
    let timekeeper: any Timekeeper
    let concurrency: Int

    /// Makes these edits of every user.
    ///
    /// - Parameter duration: Over which they are spread evenly; zero means as fast as the host takes
    ///   them, and then an edit's latency counts from when it was sent.
    /// - Returns: The ledgers in their old order; when cancelled, as far as it came.
    func drive(
        _ ledgers: [UserLedger],
        _ numbers: Range<Int>,
        over duration: Duration
    ) async -> [UserLedger] {
        let schedule = Schedule(
            start: timekeeper.elapsed,
            step: duration / max(1, ledgers.count * numbers.count),
            first: numbers.lowerBound,
            users: ledgers.count
        )
        let lanes = min(concurrency, ledgers.count)
        return await withTaskGroup(of: (Int, [UserLedger]).self) { workers in
            for lane in 0..<lanes {
                let own = stride(from: lane, to: ledgers.count, by: lanes).map { ledgers[$0] }
                workers.addTask {
                    (lane, await work(own, numbers, schedule, lane: lane, of: lanes))
                }
            }
            var result = ledgers
            for await (lane, own) in workers {
                for (place, ledger) in own.enumerated() { result[lane + place * lanes] = ledger }
            }
            return result
        }
    }

    private struct Schedule: Sendable {
        let start: Duration
        let step: Duration
        let first: Int
        let users: Int

        /// When an edit is due; nil means as soon as it can be.
        func due(_ number: Int, of user: Int) -> Duration? {
            step == .zero ? nil : start + step * ((number - first) * users + user)
        }
    }

    /// One user's edits are made one after the other, so all of a user's are one worker's.
    private func work(
        _ ledgers: [UserLedger],
        _ numbers: Range<Int>,
        _ schedule: Schedule,
        lane: Int,
        of lanes: Int
    ) async -> [UserLedger] {
        var ledgers = ledgers
        for number in numbers {
            for place in ledgers.indices {
                let due = schedule.due(number, of: lane + place * lanes)
                guard await wait(until: due) else { return ledgers }
                await make(number, in: &ledgers[place], due: due)
            }
        }
        return ledgers
    }

    /// - Returns: Whether there is still somebody who wants to know.
    private func wait(until due: Duration?) async -> Bool {
        do {
            try await barrier.pass()
            if let due, due > timekeeper.elapsed {
                try await timekeeper.sleep(until: due)
                try await barrier.pass()
            }
            return !Task.isCancelled
        } catch {
            return false
        }
    }

    private func make(_ number: Int, in ledger: inout UserLedger, due: Duration?) async {
        guard number < ledger.plan.edits.count else { return }
        let edit = ledger.plan.edits[number]
        let id = ledger.ids[edit.thing]
        if id == nil, edit.operation != .create { return meter.noteSkipped() }
        let start = due ?? timekeeper.elapsed
        var reply = await host.carryOut(edit, of: ledger.resident.account, id: id)
        // What has not left this machine can be sent when the host is there again.
        while reply.outcome == .untried, barrier.isClosed, (try? await barrier.pass()) != nil {
            reply = await host.carryOut(edit, of: ledger.resident.account, id: id)
        }
        ledger.note(reply, of: number)
        meter.note(reply, of: edit.operation, after: timekeeper.elapsed - start)
    }
}
