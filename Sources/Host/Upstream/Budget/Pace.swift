/// Kinds of requests that upstreams count apart, as far as is known of any.
public enum Pace: String, CaseIterable, Hashable, Sendable {
    case read, create, change
    /// All that needs no token. Its limits are the tightest, and hold up nobody who has one.
    case signIn
}

/// What a request to come again later holds up.
enum Zone: String, CaseIterable, Hashable, Sendable {
    case api, identity

    init(_ pace: Pace) {
        self = pace == .signIn ? .identity : .api
    }
}
