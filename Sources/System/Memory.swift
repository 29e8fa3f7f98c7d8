import CSystem
import Glibc

/// What the process holds of the machine's memory.
public enum Memory {
    /// Bytes that were let go of and are kept for the next time, or were given back already.
    static var idle: Int { Int(clamping: cs_idle_memory()) }

    /// Has threads share heaps, one for each processor.
    ///
    /// Else each thread would have its own, with what was let go of there kept apart. With a single one
    /// for all, an edit costs a tenth more. To be called before there are other threads.
    public static func shareHeaps() {
        cs_limit_arenas(Int32(clamping: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    }

    /// Gives memory back that was let go of.
    ///
    /// The allocator keeps it for the next time, which is right while there is much to do; a host that
    /// has once listed a large vault would look large for ever.
    public struct Tidying {
        private let slack: Int
        /// How much was idle when it was given back last. It is counted as idle all the same.
        private var gone = 0

        /// - Parameter slack: So many bytes are kept.
        public init(beyond slack: Int) { self.slack = slack }

        /// - Returns: Whether there was enough to give back.
        @discardableResult
        public mutating func tidy() -> Bool {
            let idle = Memory.idle
            gone = min(gone, idle)
            guard idle - gone > slack else { return false }
            cs_give_memory_back()
            gone = Memory.idle
            return true
        }
    }
}
