import Machine
import System

/// What happened, line by line; the same for the same seed.
final class History: Sendable {
    private struct State {
        var lines: [String] = []
        var names: [String: String] = [:]
        var counts: [String: Int] = [:]
        var tally = Tally()
    }

    private let time: VirtualTimekeeper
    private let state = Lock(State())

    init(_ time: VirtualTimekeeper) { self.time = time }

    var lines: [String] { state.withLock(\.lines) }

    /// What there was while the script lasted.
    struct Tally: Sendable {
        var effects = 0
        var flushes = 0
    }

    var tally: Tally {
        get { state.withLock(\.tally) }
        set { state.withLock { $0.tally = newValue } }
    }

    /// - Parameter host: Whose line it is; of the first, or the only one, nothing is said.
    func note(_ line: @autoclosure () -> String, of host: Int = 0) {
        let who = host == 0 ? "" : "host \(host + 1): "
        let text = "\(time.elapsed.shown)  \(who)\(line())"
        state.withLock { $0.lines.append(text) }
    }

    /// A short name for something that has a long one.
    func name(_ id: String, _ kind: String = "cipher") -> String {
        state.withLock { state in
            if let name = state.names[id] { return name }
            state.counts[kind, default: 0] += 1
            let name = "\(kind)\(state.counts[kind] ?? 0)"
            state.names[id] = name
            return name
        }
    }

    /// A number that stands for all of it.
    var digest: UInt64 { state.withLock { $0.lines.lazy.flatMap(\.utf8).shortDigest } }
}
