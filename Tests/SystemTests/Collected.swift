import System

/// What several threads have noted, in order.
final class Collected<Value: Sendable>: Sendable {
    private let all = Lock<[Value]>([])

    var values: [Value] { all.withLock(\.self) }

    func append(_ value: Value) {
        all.withLock { $0.append(value) }
    }
}
