import Vault

extension Moment {
    /// To the microsecond, which is finer than anybody asks to be left alone.
    func advanced(by duration: Duration) -> Moment {
        let (seconds, attoseconds) = duration.components
        let ticks = seconds * Self.ticksPerSecond + attoseconds / 100_000_000_000
        return Moment(ticks: self.ticks + ticks)
    }

    func since(_ earlier: Moment) -> Duration {
        .microseconds((ticks - earlier.ticks) / 10)
    }
}
