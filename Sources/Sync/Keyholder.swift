public import Crypto
internal import System

/// Has an account's keys while the account is unlocked.
///
/// Locking lets go of them; whoever is in the middle of something keeps the ring until that is done,
/// and then the keys are wiped.
public final class Keyholder: Sendable {
    private let held = Lock<KeyRing?>(nil)

    public init() {}

    public var keys: KeyRing? { held.withLock { $0 } }
    public var isLocked: Bool { keys == nil }

    public func unlock(_ keys: KeyRing) { held.withLock { $0 = keys } }
    public func lock() { held.withLock { $0 = nil } }
}
