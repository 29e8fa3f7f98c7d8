import EmbeddedUpstream
import HTTP
import System

/// The same work done by those who do nothing else: what the figures of the host stand beside.
struct Ceilings: Sendable {
    let course: Course

    private static let commits = 20_000
    private static let upstreamSeconds = 3

    func measure(_ residents: [Resident]) async throws {
        course.journal.begin("ceilings")
        try await measureCommits(residents)
        try await measureUpstream(residents)
    }

    /// The users' edits once more, sent to a handler that only writes them down.
    private func measureCommits(_ residents: [Resident]) async throws {
        let bare = try await BareCommit.open(course.settings.directory + "/bare.db")
        let side = try HostSide(
            url: bare.url,
            token: "none",
            concurrency: course.profile.concurrency
        )
        let each = max(1, min(Self.commits / residents.count, course.profile.items))
        let ledgers = residents.map { resident in
            let edits = course.plan.furniture(of: resident.user).prefix(each).enumerated().map {
                UserPlan.Edit.create(thing: $0, $1)
            }
            return UserLedger(resident, UserPlan(base: [], edits: edits), [])
        }
        let begun = course.timekeeper.elapsed
        _ = await driver(side, Meter()).drive(ledgers, 0..<each, over: .zero)
        let rush = (course.timekeeper.elapsed - begun).inSeconds
        let total = each * ledgers.count
        let paced = Meter()
        let rate = max(1, course.journal.finished.ceilings?.pacedPerSecond ?? 1)
        _ = await driver(side, paced).drive(
            ledgers,
            0..<each,
            over: .seconds(Double(total) / rate)
        )
        await side.close()
        try await bare.close()
        // What was broken off has no rate.
        try Task.checkCancellation()
        course.journal.write { report in
            report.ceilings?.bareCommitPerSecond = Double(total) / max(0.001, rush)
            report.ceilings?.bareCommitPaced99 = paced.all.percentile(0.99).milliseconds
        }
    }

    private func driver(_ side: HostSide, _ meter: Meter) -> Driver {
        Driver(
            host: side,
            meter: meter,
            barrier: Barrier(course.timekeeper),
            timekeeper: course.timekeeper,
            concurrency: course.profile.concurrency
        )
    }

    /// How many changes of items the server takes from clients that do nothing but send them.
    private func measureUpstream(_ residents: [Resident]) async throws {
        let some = Array(residents.prefix(16))
        let until = course.timekeeper.elapsed + .seconds(Self.upstreamSeconds)
        let client = try Client()
        let begun = course.timekeeper.elapsed
        let url = course.upstream.url
        let counts = try await inTurn(some, atOnce: some.count) { resident in
            try await resident.device.rewrite(by: client, at: url) {
                course.timekeeper.elapsed < until
            }
        }
        let seconds = (course.timekeeper.elapsed - begun).inSeconds
        await client.close()
        try Task.checkCancellation()
        course.journal.write {
            $0.ceilings?.upstreamPerSecond = Double(counts.reduce(0, +)) / max(0.001, seconds)
        }
    }
}
