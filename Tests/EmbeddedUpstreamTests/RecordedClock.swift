import FoundationEssentials
import System
import Vault

/// A clock that says what it is told to say.
final class RecordedClock: Timekeeper {
    private let moment: Lock<Moment>

    init(_ moment: Moment = Moment(ticks: 17_000_000_000_000_000)) {
        self.moment = Lock(moment)
    }

    var now: Date { moment.withLock { $0 }.date }
    var elapsed: Duration { .zero }

    /// Forward only.
    func advance(to later: Moment) {
        moment.withLock { $0 = max($0, later) }
    }

    func advance(bySeconds seconds: Int64) {
        moment.withLock { $0 = $0.advanced(bySeconds: seconds) }
    }

    /// Nobody is made to wait, but everybody lets the others go first.
    func sleep(for duration: Duration) async throws(CancellationError) {
        await Task.yield()
        if Task.isCancelled { throw CancellationError() }
    }
}
