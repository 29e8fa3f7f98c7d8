import CSystem

/// What the process holds of the machine's memory.
public enum Memory {
    /// Gives back what was let go of, if that is more than so many bytes.
    ///
    /// The allocator keeps it for the next time, which is right while there is much to do; a host that
    /// has once listed a large vault would look large for ever.
    public static func giveBack(beyond slack: Int) { cs_give_memory_back(UInt64(max(slack, 0))) }
}
