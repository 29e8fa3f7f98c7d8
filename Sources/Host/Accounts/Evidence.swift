package import Sync
package import Vault

extension Evidence {
    /// What a setback shows of the network; nil if it shows nothing.
    package init?(_ setback: Setback) {
        switch setback.reason {
        case .rejected, .stale, .missing, .unauthorised: self = .answered
        case .throttled(_, .asked), .throttled(_, .guessed), .unavailable, .malformed:
            self = .troubled
        case .unreachable(.tried), .foreign: self = .unreachable
        case .signedOut, .throttled(_, .paced), .unreachable(.held), .unreachable(.exhausted),
            .cancelled:
            return nil
        }
    }
}

extension Upstream {
    /// In spite of what the budget has learnt of the network and of limits: finding that out anew is what it is
    /// for, and it is the smallest of questions.
    ///
    /// Not while a guard wants this host gone, though: nobody insists on it.
    ///
    /// - Returns: Nil if nothing was found out, because this host could not ask.
    package func probeNetwork() async -> Evidence? {
        if isBanned { return .unreachable }
        var manner = Manner()
        manner.isForced = true
        manner.isWaitedFor = true
        manner.deadline = .seconds(10)
        do {
            try await probe(manner)
            // That it is there does not say that it takes anything again.
            return restsFor == nil ? .answered : .troubled
        } catch {
            if case .unreachable(.exhausted) = error.reason { return nil }
            return Evidence(error) ?? .unreachable
        }
    }
}
