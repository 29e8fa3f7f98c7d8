import FoundationEssentials
import System

/// A moment that lasts.
struct StillTime: Timekeeper {
    var now = Date(timeIntervalSince1970: 1_763_722_577.25)
    var elapsed: Duration { .zero }

    func sleep(for duration: Duration) async throws(CancellationError) {
        throw CancellationError()
    }
}
