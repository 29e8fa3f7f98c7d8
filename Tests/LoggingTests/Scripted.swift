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

/// Keeps the lines.
final class Shelf: LogSink {
    private let kept = Lock<[String]>([])

    var lines: [String] { kept.withLock(\.self) }

    func write(_ line: [UInt8]) -> Bool {
        kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        return true
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
