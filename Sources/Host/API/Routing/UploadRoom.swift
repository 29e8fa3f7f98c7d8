import System

/// How much of files is held in memory at a time, whoever sends them. A file is read whole before it is sealed, and
/// many at once would take all that the machine has.
final class UploadRoom: Sendable {
    private let left: Lock<Int>

    init(bytes: Int) { left = Lock(bytes) }

    /// - Parameter bytes: How much is to come, at most.
    func holding<Value>(
        _ bytes: Int,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let isTaken = left.withLock { left in
            guard left >= bytes else { return false }
            left -= bytes
            return true
        }
        guard isTaken else { throw DeskRefusal.busy }
        defer { left.withLock { $0 += bytes } }
        return try await body()
    }
}
