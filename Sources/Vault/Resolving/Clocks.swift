/// What the clocks say at the moment of a decision.
public struct ClockReading: Hashable, Sendable {
    public let now: Moment
    public let note: ClockNote

    public init(now: Moment, note: ClockNote) {
        self.now = now
        self.note = note
    }
}

extension PendingChange {
    /// Who came later: the last edit, or what upstream stamped then. Equal, or too near to tell, is
    /// upstream, so that every host decides alike.
    ///
    /// A host whose clock is wrong would let the wrong side win. So the edit's moment is taken over
    /// into upstream's time: by what the clocks differed when it was made, and by what has passed
    /// since then if this is still the same boot. Where these two disagree, a clock was set in
    /// between and nothing is certain. Each is upstream's time at least, so the later says more, unless they differ by
    /// more than a second, which is all that answers leave open. Where neither is known, the host's own clock has to do.
    public func later(than upstream: Moment, by reading: ClockReading) -> Side {
        let noted = clock?.offsetTicks.map { updated.withinYears.ticks + $0 }
        let counted = counted(by: reading)
        if let noted, let counted, (noted - counted).magnitude > Self.tolerance {
            return .upstream
        }
        let measured = [noted, counted].compactMap(\.self)
        guard let least = measured.min(), let most = measured.max() else {
            return .later(local: updated, upstream: upstream)
        }
        let corrected = most - least > Moment.ticksPerSecond ? least : most
        return corrected > upstream.latest.ticks ? .local : .upstream
    }

    /// Upstream's time when the edit was made, counted back from now.
    private func counted(by reading: ClockReading) -> Int64? {
        guard let clock, clock.bootID == reading.note.bootID,
            clock.elapsedTicks <= reading.note.elapsedTicks, let offset = reading.note.offsetTicks
        else { return nil }
        return reading.now.ticks + offset - (reading.note.elapsedTicks - clock.elapsedTicks)
    }

    private static let tolerance = UInt64(5 * Moment.ticksPerSecond)
}

extension Moment {
    /// When it may have been: of some stamps the fraction of their second was cut off.
    fileprivate var latest: Moment { isWholeSecond ? advanced(bySeconds: 1) : self }
}
