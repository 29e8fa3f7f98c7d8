import Testing

@testable import Vault

/// Whose version is later, where clocks are wrong.
@Suite struct ResolvingClockTests {
    private static let hour: Int64 = 3_600

    /// An edit that was made at that second of upstream's time by a host whose clock is wrong by so
    /// much, and was right about that or did not know.
    private static func change(
        at seconds: Int64,
        error: Int64,
        knowsError: Bool,
        boot: String = "boot"
    ) -> PendingChange {
        let moment = Moment(ticks: 0).advanced(bySeconds: seconds + error)
        return PendingChange(
            id: "change",
            userID: "user",
            cipherID: "cipher",
            version: 1,
            intent: .hardDelete,
            baseline: nil,
            created: moment,
            updated: moment,
            clock: ClockNote(
                offsetTicks: knowsError ? -error * Moment.ticksPerSecond : nil,
                bootID: boot,
                elapsedTicks: seconds * Moment.ticksPerSecond
            )
        )
    }

    /// The clocks at that second of upstream's time.
    private static func reading(
        at seconds: Int64,
        error: Int64,
        knowsError: Bool = true
    ) -> ClockReading {
        ClockReading(
            now: Moment(ticks: 0).advanced(bySeconds: seconds + error),
            note: ClockNote(
                offsetTicks: knowsError ? -error * Moment.ticksPerSecond : nil,
                bootID: "boot",
                elapsedTicks: seconds * Moment.ticksPerSecond
            )
        )
    }

    private static func revision(_ seconds: Int64) -> Moment {
        Moment(ticks: 0).advanced(bySeconds: seconds)
    }

    @Test(arguments: [-2 * hour, 0, 2 * hour])
    func `T-19 G-CLOCK a clock that is wrong by hours decides as one that is right`(
        _ error: Int64
    ) {
        let change = Self.change(at: 1_000, error: error, knowsError: true)
        let reading = Self.reading(at: 2_000, error: error)
        #expect(change.later(than: Self.revision(900), by: reading) == .local)
        #expect(change.later(than: Self.revision(1_100), by: reading) == .upstream)
    }

    @Test func `G-CLOCK a clock that was set right between edit and run decides rightly`() {
        let change = Self.change(at: 1_000, error: 2 * Self.hour, knowsError: true)
        let reading = Self.reading(at: 2_000, error: 0)
        #expect(change.later(than: Self.revision(900), by: reading) == .local)
        #expect(change.later(than: Self.revision(1_100), by: reading) == .upstream)
    }

    @Test func `G-CLOCK an edit before anything was measured is counted back`() {
        let change = Self.change(at: 1_000, error: 2 * Self.hour, knowsError: false)
        let reading = Self.reading(at: 2_000, error: 0)
        #expect(change.later(than: Self.revision(900), by: reading) == .local)
        #expect(change.later(than: Self.revision(1_100), by: reading) == .upstream)
    }

    @Test func `G-CLOCK of two measured errors the one that says more decides`() {
        // Upstream is certainly as late as it says, and maybe later.
        let slack = Moment.ticksPerSecond
        for (noted, read) in [(0, slack), (slack, 0)] {
            var change = Self.change(at: 1_000, error: 0, knowsError: false)
            change.clock = ClockNote(
                offsetTicks: -noted,
                bootID: "boot",
                elapsedTicks: 1_000 * Moment.ticksPerSecond
            )
            let reading = ClockReading(
                now: Self.revision(2_000),
                note: ClockNote(
                    offsetTicks: -read,
                    bootID: "boot",
                    elapsedTicks: 2_000 * Moment.ticksPerSecond
                )
            )
            let before = Self.revision(999) + .milliseconds(500)
            #expect(change.later(than: before, by: reading) == .local)
        }
    }

    @Test func `G-CLOCK a clock that was set by seconds before an edit does not make that later`() {
        // Three seconds on, unmeasured; the other way knows.
        var change = Self.change(at: 1_003, error: 0, knowsError: false)
        change.clock = ClockNote(
            offsetTicks: 0,
            bootID: "boot",
            elapsedTicks: 1_000 * Moment.ticksPerSecond
        )
        let reading = ClockReading(
            now: Self.revision(2_003),
            note: ClockNote(
                offsetTicks: -3 * Moment.ticksPerSecond,
                bootID: "boot",
                elapsedTicks: 2_000 * Moment.ticksPerSecond
            )
        )
        let later = Self.revision(1_002) + .milliseconds(500)
        #expect(change.later(than: later, by: reading) == .upstream)
        #expect(change.later(than: Self.revision(998), by: reading) == .local)
    }

    @Test func `G-CLOCK after another boot the measured error has to do`() {
        let change = Self.change(at: 1_000, error: Self.hour, knowsError: true, boot: "earlier")
        let reading = Self.reading(at: 2_000, error: 0)
        #expect(change.later(than: Self.revision(900), by: reading) == .local)
        #expect(change.later(than: Self.revision(1_100), by: reading) == .upstream)
    }

    @Test(arguments: ["boot", "earlier"])
    func `F38 an edit whose moment is spoilt is not the later one`(_ boot: String) {
        var change = Self.change(at: 1_000, error: Self.hour, knowsError: true, boot: boot)
        change.updated = Moment(ticks: .min)
        let reading = Self.reading(at: 2_000, error: 0)
        #expect(change.later(than: Self.revision(900), by: reading) == .upstream)
    }

    @Test func `G-CLOCK where the two ways disagree nothing is certain, and upstream wins`() {
        // The clock was set after the error was measured and before the edit.
        var change = Self.change(at: 1_000, error: Self.hour, knowsError: true)
        change.clock = ClockNote(
            offsetTicks: 0,
            bootID: "boot",
            elapsedTicks: 1_000 * Moment.ticksPerSecond
        )
        let reading = Self.reading(at: 2_000, error: Self.hour)
        #expect(change.later(than: Self.revision(900), by: reading) == .upstream)
    }

    @Test(arguments: [-2 * hour, 0, 2 * hour])
    func `G-CLOCK an edit that had to wait for its turn is dated anew by either way`(
        _ error: Int64
    ) throws {
        let edit = Self.change(at: 1_000, error: error, knowsError: true)
        var waiting = PendingChange.sample(.other(restores: false, Adjustments(isFavourite: true)))
        let call = Self.change(at: 1_010, error: error, knowsError: true).updated
        waiting.note(Attempt(.partial, at: call))
        let folding = waiting.fold(Edit(.favour(false), at: edit.updated, clock: edit.clock))
        let change = try #require(folding.change)
        #expect(change.updated > call)
        let reading = Self.reading(at: 2_000, error: error)
        #expect(change.later(than: Self.revision(1_005), by: reading) == .local)
        #expect(change.later(than: Self.revision(1_015), by: reading) == .upstream)
    }

    @Test func `G-CLOCK without a measured error the host's own clock decides`() {
        var change = Self.change(at: 1_000, error: 0, knowsError: false)
        let reading = Self.reading(at: 2_000, error: 0, knowsError: false)
        #expect(change.later(than: Self.revision(999), by: reading) == .local)
        #expect(change.later(than: Self.revision(1_001), by: reading) == .upstream)
        change.clock = nil
        #expect(change.later(than: Self.revision(999), by: reading) == .local)
    }

    @Test func `T-18 equal moments, and those too near to tell, are upstream's`() {
        let exact = Self.change(at: 1_000, error: 0, knowsError: false)
        let blind = Self.reading(at: 2_000, error: 0, knowsError: false)
        #expect(exact.later(than: Self.revision(1_000), by: blind) == .upstream)
        let measured = Self.change(at: 1_000, error: 0, knowsError: true)
        let reading = Self.reading(at: 2_000, error: 0)
        // That may have been the second's end.
        #expect(measured.later(than: Self.revision(999), by: reading) == .upstream)
        #expect(measured.later(than: Self.revision(998), by: reading) == .local)
        let precise = Self.revision(999) + .milliseconds(990)
        #expect(measured.later(than: precise, by: reading) == .local)
        #expect(
            measured.later(than: Self.revision(1_000) + .milliseconds(1), by: reading) == .upstream
        )
    }

    @Test func `T-18 one instant is one instant in every spelling`() throws {
        let spellings = [
            "1970-01-01T00:16:40Z", "1970-01-01T00:16:40.0000000Z", "1970-01-01T01:16:40+01:00",
            "1970-01-01T00:16:40.000+00:00",
        ]
        let exact = Self.change(at: 1_000, error: 0, knowsError: false)
        let blind = Self.reading(at: 2_000, error: 0, knowsError: false)
        for spelling in spellings {
            let revision = try #require(Revision(spelling))
            #expect(exact.later(than: revision.moment, by: blind) == .upstream, "\(spelling)")
        }
    }
}
