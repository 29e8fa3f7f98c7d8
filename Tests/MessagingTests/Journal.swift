import System

/// What happened in a test, in the order in which it did.
final class Journal<Entry: Sendable>: Sendable {
    private let lines = Lock<[Entry]>([])

    var entries: [Entry] { lines.withLock(\.self) }

    func note(_ entry: Entry) {
        lines.withLock { $0.append(entry) }
    }
}
