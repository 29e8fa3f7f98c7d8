import Synchronization
public import System

/// Where all loggers of a host write: one level, one format, one sink.
///
/// Lines that the sink cannot take are lost and counted, because a log that nobody reads must not
/// stop the host; the first line that gets through again is followed by one that says how many.
///
/// Of warnings and errors that are the same to the last byte only a few are written in a while; the
/// next one then says in its field `repeated` how many were left out.
public final class Logbook: Sendable {
    private let threshold: Atomic<UInt8>
    private let format: LogFormat
    private let marksPriority: Bool
    private let sink: any LogSink
    private let timekeeper: any Timekeeper
    private let repetitions = Lock(Repetitions())
    private let lost = Atomic(0)
    private let unreported = Atomic(0)

    /// - Parameter marksPriority: Whether lines begin with `<N>`, by which the journal of systemd
    ///   knows the level of what a service writes to standard error.
    public init(
        level: LogLevel = .info,
        format: LogFormat = .text,
        marksPriority: Bool = false,
        sink: any LogSink,
        timekeeper: any Timekeeper
    ) {
        threshold = Atomic(level.priority)
        self.format = format
        self.marksPriority = marksPriority
        self.sink = sink
        self.timekeeper = timekeeper
    }

    /// From now on only lines of that level or above are written. From any thread, at any time.
    public func setLevel(_ level: LogLevel) {
        threshold.store(level.priority, ordering: .relaxed)
    }

    func isOn(_ level: LogLevel) -> Bool {
        level.priority <= threshold.load(ordering: .relaxed)
    }

    /// How many lines the sink could not take.
    public var lostLines: Int { lost.load(ordering: .relaxed) }

    func write(
        _ level: LogLevel,
        _ message: StaticString,
        _ fields: [(name: StaticString, value: LogValue)]
    ) {
        var line = LogLine(format)
        line.begin(level, at: Timestamp(timekeeper.now), marksPriority: marksPriority)
        line.add(message: message)
        for field in fields { line.add(field.name, field.value) }
        if level >= .warning {
            switch admission(of: line) {
            case .leaveOut: return
            case .write(let repeated) where repeated > 0: line.add("repeated", repeated.logValue)
            case .write: break
            }
        }
        line.end()
        deliver(line.bytes)
    }

    private func admission(of line: LogLine) -> Repetitions.Admission {
        var hasher = Hasher()
        line.body.withUnsafeBytes { hasher.combine(bytes: $0) }
        let key = hasher.finalize()
        let moment = timekeeper.elapsed
        return repetitions.withLock { $0.admit(key, at: moment) }
    }

    private func deliver(_ bytes: [UInt8]) {
        guard sink.write(bytes) else {
            lost.wrappingAdd(1, ordering: .relaxed)
            unreported.wrappingAdd(1, ordering: .relaxed)
            return
        }
        guard unreported.load(ordering: .relaxed) > 0 else { return }
        let missing = unreported.exchange(0, ordering: .relaxed)
        if missing > 0 && !sink.write(report(of: missing)) {
            unreported.wrappingAdd(missing, ordering: .relaxed)
        }
    }

    private func report(of missing: Int) -> [UInt8] {
        var line = LogLine(format)
        line.begin(.warning, at: Timestamp(timekeeper.now), marksPriority: marksPriority)
        line.add(message: "Lines of this log were lost, because it was not read.")
        line.add("lines", missing.logValue)
        line.end()
        return line.bytes
    }
}
