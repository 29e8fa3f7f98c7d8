import FoundationEssentials
import Logging
import System

/// A moment that lasts until it is moved on.
final class StillTime: Timekeeper {
    private let passed = Lock(Duration.zero)

    var now: Date {
        Date(timeIntervalSince1970: 1_763_722_627.123 + elapsed / .seconds(1))
    }
    var elapsed: Duration { passed.withLock { $0 } }

    func pass(_ duration: Duration) {
        passed.withLock { $0 += duration }
    }

    func sleep(for duration: Duration) async throws(CancellationError) {
        throw CancellationError()
    }
}

/// Keeps the lines, unless it has been told to refuse them.
final class Shelf: LogSink {
    private struct State {
        var lines: [String] = []
        var isOpen = true
    }

    private let state = Lock(State())

    var lines: [String] { state.withLock { $0.lines } }

    func refuse(_ isRefusing: Bool) {
        state.withLock { $0.isOpen = !isRefusing }
    }

    func write(_ line: [UInt8]) -> Bool {
        state.withLock { state in
            if state.isOpen { state.lines.append(String(decoding: line, as: UTF8.self)) }
            return state.isOpen
        }
    }
}

/// A logger, where its lines go, and its time.
struct Desk {
    let time = StillTime()
    let shelf = Shelf()
    let book: Logbook
    let log: Logger

    init(_ format: LogFormat = .text, level: LogLevel = .info, marksPriority: Bool = false) {
        book = Logbook(
            level: level,
            format: format,
            marksPriority: marksPriority,
            sink: shelf,
            timekeeper: time
        )
        log = Logger(book)
    }
}
