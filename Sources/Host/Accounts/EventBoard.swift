public import Sync
import System

/// What happens in the mesh, numbered, for clients that listen.
///
/// The last thousand are remembered, so that a client that was away for a moment misses nothing. One
/// that does not keep up loses the oldest and finds that by the numbers.
public final class EventBoard: Sendable {
    private struct State {
        var recent: [NumberedEvent] = []
        var next = 1
        var listeners: [Int: AsyncStream<NumberedEvent>.Continuation] = [:]
        var nextListener = 0
    }

    private static let remembered = 1_024
    private let state: Lock<State>

    /// - Parameter first: The number of the first event. Later boards begin higher, so that a client
    ///   that was there before a restart hears all that came after it.
    public init(from first: Int = 1) {
        state = Lock(State(next: first))
    }

    public func post(_ event: MeshEvent) {
        state.withLock { state in
            let numbered = NumberedEvent(state.next, event)
            state.next += 1
            if state.recent.count >= 2 * Self.remembered {
                state.recent.removeFirst(Self.remembered)
            }
            state.recent.append(numbered)
            // Who is gone is noticed here and nowhere else. A task that is cancelled tells so while the
            // runtime holds a lock of that task, which whoever yields to it needs, too.
            for (ticket, listener) in state.listeners {
                if case .terminated = listener.yield(numbered) { state.listeners[ticket] = nil }
            }
        }
    }

    /// - Parameter number: The last that the listener has heard; nil to hear only what comes.
    public func events(after number: Int?) -> AsyncStream<NumberedEvent> {
        let (stream, listener) = AsyncStream.makeStream(
            of: NumberedEvent.self,
            bufferingPolicy: .bufferingNewest(2 * Self.remembered)
        )
        state.withLock { state in
            if let number {
                for event in state.recent where event.number > number { listener.yield(event) }
            }
            state.nextListener += 1
            state.listeners[state.nextListener] = listener
        }
        return stream
    }

    /// Nobody hears anything any more.
    public func close() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
