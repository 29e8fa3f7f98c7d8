/// The links to servers, by their addresses.
///
/// Whoever signs in is at no account yet, so a link is kept for a while after it was last asked for.
struct ServerLinks: Sendable {
    /// Longer than anybody who was given a link may need until an account is on it, or is not any more.
    static let patience = Duration.seconds(600)

    private var byServer: [String: (link: ServerLink, asked: Duration)] = [:]
    private var count = 0

    var all: [ServerLink] { byServer.values.map(\.link) }

    /// - Returns: The link, and whether it was made for that.
    mutating func link(
        to server: String,
        at elapsed: Duration,
        made make: (_ number: Int) -> ServerLink
    ) -> (link: ServerLink, isNew: Bool) {
        if let known = byServer[server]?.link {
            byServer[server] = (known, elapsed)
            return (known, false)
        }
        let link = make(count)
        count += 1
        byServer[server] = (link, elapsed)
        return (link, true)
    }

    /// Gives up those that no account is on, so that a server is not asked for ever whether it is there because
    /// somebody once mistyped an address.
    ///
    /// - Returns: The links that are to be closed.
    mutating func dropIdle(
        at elapsed: Duration,
        isUsed: (ServerLink) -> Bool
    ) -> [ServerLink] {
        let idle = byServer.filter { _, known in
            known.asked + Self.patience < elapsed && !isUsed(known.link)
        }
        for server in idle.keys { byServer[server] = nil }
        return idle.values.map(\.link)
    }
}
