import Sync
import System

/// What happens in the mesh, numbered, for clients that listen.
///
/// The last thousand are remembered, so that a client that was away for a moment misses nothing. One
/// that does not keep up loses the oldest and finds that by the numbers.
final class EventBoard: Sendable {
    private struct State {
        var recent: [NumberedEvent] = []
        var next = 1
        var listeners: [Int: AsyncStream<NumberedEvent>.Continuation] = [:]
        var nextListener = 0
        var isClosed = false

        /// All that came after that number is remembered.
        var forgotten: Int { (recent.first?.number ?? next) - 1 }

        /// Whether that number was given here, and nothing that came after it is forgotten.
        func remembersAll(after number: Int) -> Bool { number < next && number >= forgotten }
    }

    private static let remembered = 1_024
    /// So many may come at once, to somebody who was away.
    static let mostAtOnce = 2 * remembered
    private let state: Lock<State>

    /// - Parameter first: The number of the first event. Later boards begin higher, so that a client
    ///   that was there before a restart hears all that came after it.
    init(from first: Int = 1) {
        state = Lock(State(next: first))
    }

    func post(_ event: MeshEvent) {
        state.withLock { state in
            let numbered = NumberedEvent(state.next, event)
            state.next += 1
            if state.recent.count >= Self.mostAtOnce {
                state.recent.removeFirst(Self.remembered)
            }
            state.recent.append(numbered)
            for listener in state.listeners.values { listener.yield(numbered) }
        }
    }

    /// Listens for as long as the body runs.
    ///
    /// - Parameters:
    ///   - number: The last that the listener has heard; nil to hear only what comes.
    ///   - hints: What has a listener look again who cannot be told all that came after that.
    func listen<Value>(
        after number: Int?,
        orHearing hints: [MeshEvent] = [],
        _ body: (AsyncStream<NumberedEvent>) async throws -> Value
    ) async rethrows -> Value {
        let (stream, listener) = AsyncStream.makeStream(
            of: NumberedEvent.self,
            bufferingPolicy: .bufferingNewest(Self.mostAtOnce + hints.count)
        )
        let ticket = state.withLock { state in
            if let number {
                let heard = state.remembersAll(after: number) ? number : state.forgotten
                if heard != number { Self.tell(hints, before: heard, listener) }
                for event in state.recent where event.number > heard { listener.yield(event) }
            }
            if state.isClosed { listener.finish() }
            state.nextListener += 1
            state.listeners[state.nextListener] = listener
            return state.nextListener
        }
        // Here and not where the stream ends: a task that is cancelled says so while the runtime holds a lock of
        // it, which whoever yields to it needs, too.
        defer { _ = state.withLock { $0.listeners.removeValue(forKey: ticket) } }
        return try await body(stream)
    }

    /// A listener who is cut off among them hears all of them again; one who has heard the last goes on with what
    /// is remembered.
    private static func tell(
        _ hints: [MeshEvent],
        before number: Int,
        _ listener: AsyncStream<NumberedEvent>.Continuation
    ) {
        for hint in hints.dropLast() { listener.yield(NumberedEvent(number - 1, hint)) }
        if let last = hints.last { listener.yield(NumberedEvent(number, last)) }
    }

    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// Nobody hears anything any more, and who comes later hears that.
    func close() {
        let listeners = state.withLock { state in
            defer { (state.listeners, state.isClosed) = ([:], true) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
