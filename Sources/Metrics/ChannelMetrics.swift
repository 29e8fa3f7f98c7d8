public import Messaging
public import System

/// What goes through the channels of the mesh: `holdfast_channel_messages_total`, `_depth`,
/// `_capacity` and `_wait_seconds`.
///
/// Many lines may have the same name (every account has a resolver of its own); they are shown
/// together. All but the waits is read from the lines when somebody scrapes, and costs them nothing
/// until then.
public final class ChannelMetrics: Sendable {
    private struct Channel {
        var lines: [Int: any Line] = [:]
        /// What the lines that are gone had taken; without it the total would fall.
        var takenBefore = 0

        var traffics: some Sequence<Traffic> { lines.values.lazy.map(\.traffic) }
    }

    private struct State {
        var channels: [String: Channel]
        var nextTicket = 0
    }

    private let state: Lock<State>
    private let waits: Labelled<String, Histogram<Duration>>
    private let timekeeper: any Timekeeper

    /// - Parameter names: All channels there will ever be.
    public init(_ registry: Registry, channels names: [String], timekeeper: any Timekeeper) {
        let channel = Label("channel", names)
        self.timekeeper = timekeeper
        state = Lock(
            State(channels: Dictionary(uniqueKeysWithValues: names.map { ($0, Channel()) }))
        )
        waits = registry.register(
            .histogram(
                "holdfast_channel_wait_seconds",
                "How long messages waited from being sent to being read.",
                bounds: Self.bounds
            ),
            by: channel
        )
        registry.register(
            .counter("holdfast_channel_messages_total", "Messages that were read."),
            by: channel
        ) { [self] in read($0) { $0.traffics.reduce($0.takenBefore) { $0 + $1.taken } } }
        registry.register(
            .gauge("holdfast_channel_depth", "Messages that wait to be read."),
            by: channel
        ) { [self] in read($0) { $0.traffics.reduce(0) { $0 + $1.depth } } }
        registry.register(
            .gauge("holdfast_channel_capacity", "Messages that may wait before senders do."),
            by: channel
        ) { [self] in read($0) { $0.traffics.reduce(0) { $0 + $1.capacity } } }
    }

    private static let bounds: [Duration] = [
        .microseconds(10), .microseconds(50), .microseconds(100), .microseconds(500),
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(50),
        .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5),
    ]

    /// Shows the line with its channel for as long as the watch is kept. The line's name has to be
    /// one of the channels.
    public func watch(_ line: any Line) -> Watch {
        let name = line.traffic.name
        let ticket = state.withLock { state in
            state.nextTicket += 1
            state.channels[name]?.lines[state.nextTicket] = line
            return state.nextTicket
        }
        let wait = waits[name]
        line.observeWaits(by: timekeeper) { wait.observe($0) }
        return Watch { [self] in forget(ticket, of: name) }
    }

    /// The interest in one line; ends when it is let go.
    public final class Watch: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    private func forget(_ ticket: Int, of name: String) {
        state.withLock { state in
            guard let line = state.channels[name]?.lines.removeValue(forKey: ticket) else { return }
            state.channels[name]?.takenBefore += line.traffic.taken
        }
    }

    private func read(_ name: String, _ figure: (Channel) -> Int) -> Double? {
        state.withLock { $0.channels[name].map { Double(figure($0)) } }
    }
}
