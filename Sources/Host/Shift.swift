import Messaging
import System

/// Something that runs once, for those who have to wait until it has ended.
final class Shift: Sendable {
    private let state = Lock(State.toCome)
    private let ending = Mailbox<Never>(name: "shift", capacity: 1)

    private enum State { case toCome, begun, over }

    func run(_ body: () async -> Void) async {
        begin()
        await body()
        end()
    }

    /// Whoever asks from now on waits, also while nothing runs yet.
    func begin() { state.withLock { if $0 == .toCome { $0 = .begun } } }

    func end() {
        state.withLock { $0 = .over }
        ending.close()
    }

    var isOver: Bool { state.withLock { $0 == .over } }

    /// Returns at once if it has never begun.
    func ended() async {
        guard state.withLock({ $0 == .begun }) else { return }
        for await _ in ending {}
    }
}
