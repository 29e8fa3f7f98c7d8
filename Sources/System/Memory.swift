import CSystem
import Glibc

/// What the process holds of the machine's memory.
public enum Memory {
    /// Bytes that were handed out and not let go of since.
    static var used: Int { Int(clamping: cs_used_memory()) }

    /// Bytes that lie in RAM beyond those in use; nil where the kernel does not tell. Among what was let go of the
    /// allocator does not know what it has given back and what has been used again since, and the kernel does.
    private static var excess: Int? {
        guard let text = try? Files.read("/proc/self/statm") else { return nil }
        let counts = String(decoding: text, as: UTF8.self).split(separator: " ").map { Int($0) }
        guard counts.count > 2, let pages = counts[1], let ofFiles = counts[2] else { return nil }
        return (pages - ofFiles) * sysconf(Int32(_SC_PAGESIZE)) - used
    }

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
        /// How much lay there when it was given back last: that much is not the allocator's, or cannot be given back.
        private var rest = 0

        /// - Parameter slack: So many bytes are kept.
        public init(beyond slack: Int) { self.slack = slack }

        /// - Returns: Whether there was enough to give back.
        @discardableResult
        public mutating func tidy() -> Bool {
            guard let excess = Memory.excess else { return false }
            rest = min(rest, excess)
            guard excess - rest > slack else { return false }
            cs_give_memory_back()
            rest = Memory.excess ?? rest
            return true
        }
    }
}
