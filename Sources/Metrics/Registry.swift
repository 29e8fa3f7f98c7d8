import FoundationEssentials
import Synchronization
public import System

/// All metrics of a host, and the page that shows them.
///
/// Made once in the wiring and passed to whoever counts. Metrics are registered at the start, under
/// names that are checked there and then: a name that breaks the rules or is taken stops the
/// program, because it is a mistake in the program (``Refusal`` has the list).
///
/// Every metric has its series in the order of its label values, and the page has the metrics in
/// the order in which they were registered.
public final class Registry: Sendable {
    struct State {
        var families: [MetricFamily] = []
        /// Which metric may write lines of that name.
        var claims: [String: String] = [:]
        var preparations: [@Sendable () async -> Void] = []
    }

    private let state = Lock(State())
    private let timekeeper: any Timekeeper
    private let lastSize = Atomic(16_384)

    public init(timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
    }

    /// What has been registered, for lists and for checks of what boards and alerts name.
    public var metrics: [Metric] { state.withLock { $0.families.map(\.metric) } }

    /// Something to be done before each page is written: setting gauges whose figures have to be
    /// asked for. Costs nothing while nobody scrapes.
    ///
    /// Pages that are asked for at the same time prepare themselves independently.
    public func beforeEachPage(_ prepare: @escaping @Sendable () async -> Void) {
        state.withLock { $0.preparations.append(prepare) }
    }

    /// The whole page, to be served with the format's content type.
    public func page(_ format: ExpositionFormat) async -> [UInt8] {
        for prepare in state.withLock({ $0.preparations }) {
            await prepare()
        }
        return write(format)
    }

    /// The page of what is there now, without preparations.
    func write(_ format: ExpositionFormat) -> [UInt8] {
        var page = Page(format, expecting: lastSize.load(ordering: .relaxed))
        for family in state.withLock({ $0.families }) {
            family.write(to: &page)
        }
        if format == .openMetrics { page.write("# EOF\n") }
        lastSize.store(page.bytes.count + page.bytes.count / 8, ordering: .relaxed)
        return page.bytes
    }

    /// Takes the metric in, or says why not and changes nothing.
    func admit(_ metric: Metric) throws(Refusal) -> MetricFamily {
        try metric.check()
        let family = MetricFamily(metric)
        let holder: String? = state.withLock { state in
            if let claim = metric.claims.first(where: { state.claims[$0] != nil }) {
                return state.claims[claim]
            }
            for claim in metric.claims { state.claims[claim] = metric.name }
            state.families.append(family)
            return nil
        }
        if let holder { throw .taken(metric.name, by: holder) }
        return family
    }

    var secondsNow: Double { timekeeper.now.timeIntervalSince1970 }
}
