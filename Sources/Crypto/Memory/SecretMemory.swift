import CCrypto

/// Where secrets live: an arena that is locked into memory, left out of core dumps and with an
/// unmapped page on either side.
///
/// It has four MiB, or less where the limit on locked memory says so. Secrets that no longer fit, and
/// those of more than 16 KiB, go to ordinary memory; they are wiped on release like all others, but
/// may reach the swap. Where the system refuses to lock the arena, it is used unlocked and ``state``
/// says so.
///
/// What OpenSSL makes of keys, be it an expanded key or a copy, is always in ordinary memory, and
/// OpenSSL wipes it. So a host should forbid core dumps as well.
public enum SecretMemory {
    public enum State: Sendable {
        case locked
        /// The arena is there, but the system refused to lock it: raise `LimitMEMLOCK`.
        case swappable
        /// There is no arena; all secrets are in ordinary memory.
        case absent
    }

    /// Opens the arena when it is first asked for.
    public static let state: State =
        switch Int(cc_arena_open(4 << 20)) {
        case CC_ARENA_LOCKED: .locked
        case CC_ARENA_SWAPPABLE: .swappable
        default: .absent
        }

    /// The bytes of the arena that are taken.
    public static var usedCount: Int { state == .absent ? 0 : cc_arena_used() }
    public static var totalCount: Int { state == .absent ? 0 : cc_arena_size() }

    static func allocate(_ count: Int) -> (memory: UnsafeMutableRawPointer, isInArena: Bool) {
        if state != .absent, let memory = cc_arena_allocate(count) { return (memory, true) }
        return (.allocate(byteCount: count, alignment: 16), false)
    }

    /// Wipes the memory and gives it back; ordinary memory through `free`.
    static func release(
        _ memory: UnsafeMutableRawPointer,
        _ count: Int,
        isInArena: Bool,
        free: (UnsafeMutableRawPointer) -> Void = { $0.deallocate() }
    ) {
        if isInArena {
            cc_arena_release(memory, count)
        } else {
            cc_wipe(memory, count)
            free(memory)
        }
    }
}
