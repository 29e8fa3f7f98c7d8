internal import System

/// How long to wait before the next try.
public enum Backoff {
    /// In seconds.
    static let shortest = 5.0
    public static let longest = 900.0

    /// Doubles with every failure up to a quarter of an hour. Half of it is fixed and half is chance, so
    /// that those who failed together do not come back together.
    ///
    /// - Parameters:
    ///   - failures: How many there were, this one counted.
    ///   - chance: From 0 up to, but not including, 1.
    public static func wait(after failures: Int64, chance: Double) -> Duration {
        if mutated(.spins) { return .milliseconds(1) }
        let doublings = Double(min(max(failures, 1), 32) - 1)
        var whole = shortest
        for _ in 0..<Int(doublings) where whole < longest { whole *= 2 }
        whole = min(whole, longest)
        return .milliseconds(Int64((whole * (0.5 + 0.5 * chance)) * 1_000))
    }
}

extension Moment {
    /// Whether what waits until then may go. Nothing is put off for longer than the longest backoff, so
    /// what lies twice as far ahead was written by a clock that was wrong.
    public func hasCome(at now: Moment) -> Bool {
        self <= now || self > now.advanced(bySeconds: Int64(2 * Backoff.longest))
    }
}
