internal import CFaultVFS
internal import System

/// A disk in memory on which things go wrong when the test says so.
///
/// Databases lie on it if their configuration names its ``vfs``. It outlives every connection to it.
// @unchecked because the disk has a mutex of its own; the pointer never changes.
public final class FaultyDisk: @unchecked Sendable {
    /// The calls that are counted, and that may fail.
    public struct Calls: OptionSet, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        public static let open = Calls(rawValue: 1)
        public static let write = Calls(rawValue: 2)
        public static let sync = Calls(rawValue: 4)
        public static let truncate = Calls(rawValue: 8)
        public static let delete = Calls(rawValue: 16)
        public static let read = Calls(rawValue: 32)
        /// Everything that may change what is on the disk.
        public static let changing: Calls = [.open, .write, .sync, .truncate, .delete]
    }

    public let vfs: String
    private let disk: OpaquePointer

    private static let count = Lock(0)

    public init(seed: UInt64) {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        vfs = "faulty-\(number)"
        disk = fv_disk_new(vfs, seed)
    }

    /// Counts from 0 again.
    public func count(_ calls: Calls) { fv_count(disk, calls.rawValue) }
    public var calls: Int { fv_calls(disk) }

    /// Fails the `at`th of these calls (from 1) and those after it, `times` in all (nil: until it is
    /// healed).
    public func fail(_ calls: Calls, at: Int, times: Int? = nil, error: Int32) {
        fv_fail(disk, calls.rawValue, at, times ?? -1, error)
    }

    public func heal() { fv_heal(disk) }
    public var failures: Int { fv_failures(disk) }

    /// Cuts the power in the midst of the `at`th of these calls (from 1).
    public func cut(at: Int, of calls: Calls = .changing) { fv_cut_at(disk, calls.rawValue, at) }
    public func cut() { fv_cut(disk) }
    /// Kills whoever uses the disk: their connections are dead, what they wrote can be read by the
    /// next and is no more durable than before.
    public func kill() { fv_kill(disk) }
    public var isCut: Bool { fv_is_cut(disk) != 0 }
    /// Connections from before the cut stay dead.
    public func powerOn() { fv_power_on(disk) }

    public func size(of file: String) -> Int? {
        let size = fv_size(disk, file)
        return size < 0 ? nil : Int(size)
    }

    /// Turns bits over, as an ageing disk does.
    public func flip(_ file: String, at offset: Int, count: Int) {
        fv_flip(disk, file, Int64(offset), Int32(count))
    }

    public func contains(_ bytes: [UInt8], in file: String) -> Bool {
        fv_contains(disk, file, bytes, Int32(bytes.count)) != 0
    }

    deinit { fv_disk_free(disk) }
}
