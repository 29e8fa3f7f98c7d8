public import Messaging
public import System

/// What goes through the channels of the mesh: `holdfast_channel_messages_total`, `_depth`,
/// `_capacity` and `_wait_seconds`.
///
/// Many lines may have the same name (every account has a resolver of its own); they are shown
/// together. Each line tells when something changes, so that a scrape takes as long with a line as
/// with many thousands.
public final class ChannelMetrics: Sendable {
    private let waits: Labelled<String, Histogram<Duration>>
    private let depths: Labelled<String, Gauge>
    private let capacities: Labelled<String, Gauge>
    private let timekeeper: any Timekeeper

    /// - Parameter names: All channels there will ever be.
    public init(_ registry: Registry, channels names: [String], timekeeper: any Timekeeper) {
        let channel = Label("channel", names)
        self.timekeeper = timekeeper
        let waits: Labelled<String, Histogram<Duration>> = registry.register(
            .histogram(
                "holdfast_channel_wait_seconds",
                "How long messages waited from being sent to being read.",
                bounds: Self.bounds
            ),
            by: channel
        )
        self.waits = waits
        // Every message that is read has waited, if only for a moment.
        registry.register(
            .counter("holdfast_channel_messages_total", "Messages that were read."),
            by: channel
        ) { Double(waits[$0].snapshot.count) }
        depths = registry.register(
            .gauge("holdfast_channel_depth", "Messages that wait to be read."),
            by: channel
        )
        capacities = registry.register(
            .gauge("holdfast_channel_capacity", "Messages that may wait before senders do."),
            by: channel
        )
    }

    private static let bounds: [Duration] = [
        .microseconds(10), .microseconds(50), .microseconds(100), .microseconds(500),
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(50),
        .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5),
    ]

    /// Shows the line with its channel, and its room for as long as the watch is kept. The line's name
    /// has to be one of the channels.
    public func watch(_ line: any Line) -> Watch {
        let traffic = line.traffic
        let (wait, depth) = (waits[traffic.name], depths[traffic.name])
        line.observe(
            by: timekeeper,
            waited: { wait.observe($0) },
            deepened: { depth.add(Double($0)) }
        )
        return Watch(capacities[traffic.name], room: Double(traffic.capacity))
    }

    /// The interest in one line; ends when it is let go.
    public final class Watch: Sendable {
        private let capacity: Gauge
        private let room: Double

        fileprivate init(_ capacity: Gauge, room: Double) {
            (self.capacity, self.room) = (capacity, room)
            capacity.add(room)
        }

        deinit { capacity.add(-room) }
    }
}
