/// Whether an upstream can be reached, as far as is known.
public enum NetworkState: String, CaseIterable, Hashable, Sendable {
    case online
    /// Reachable, but it throttles us or fails.
    case degraded
    case offline
}

/// What a call has shown of the network, or the kernel has told.
public enum Evidence: Hashable, Sendable {
    /// Upstream answered, in its own words; whatever they were.
    case answered
    /// Upstream is there and asks us to come later, or fails.
    case troubled
    /// Nobody answered, or somebody else did.
    case unreachable
}
