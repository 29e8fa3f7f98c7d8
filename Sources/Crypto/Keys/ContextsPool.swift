import Synchronization
import System

/// Contexts at rest.
///
/// Usually there are one or none. So the first has a place of its own, from which it is taken and to
/// which it comes back in one step each; only callers who meet find the others behind a lock.
struct ContextsPool: ~Copyable, Sendable {
    private let first = Atomic<Unmanaged<KeyedContexts>?>(nil)
    private let others = Lock<[KeyedContexts]>([])
    /// More are not kept; OpenSSL holds a copy of the key in each.
    private static let most = 4

    func take() -> KeyedContexts? {
        if let first = first.exchange(nil, ordering: .acquiring) {
            return first.takeRetainedValue()
        }
        return others.withLock { $0.popLast() }
    }

    func put(_ contexts: consuming KeyedContexts) {
        let put = Unmanaged.passRetained(contexts)
        guard let displaced = first.exchange(put, ordering: .acquiringAndReleasing) else { return }
        let other = displaced.takeRetainedValue()
        others.withLock { if $0.count < Self.most - 1 { $0.append(other) } }
    }

    func empty() {
        _ = first.exchange(nil, ordering: .acquiring)?.takeRetainedValue()
        others.withLock { $0 = [] }
    }

    deinit { empty() }
}
