import Messaging
import System

/// Something that runs once, for those who have to wait until it has ended.
final class Shift: Sendable {
    private let hasBegun = Lock(false)
    private let ending = Mailbox<Never>(name: "shift", capacity: 1)

    func run(_ body: () async -> Void) async {
        begin()
        await body()
        end()
    }

    /// Whoever asks from now on waits, also while nothing runs yet.
    func begin() { hasBegun.withLock { $0 = true } }

    func end() { ending.close() }

    /// Returns at once if it has never begun.
    func ended() async {
        guard hasBegun.withLock({ $0 }) else { return }
        for await _ in ending {}
    }
}
