public import Messaging
internal import System
public import Vault

/// Knows whether one upstream can be reached, and tells those who wait for it.
///
/// Real traffic is heard first, then the kernel, then a probe while something waits.
public final class NetworkMonitor: Service {
    public var address: Address<Message> { mailbox.address }

    /// What is known now; asking costs nothing.
    public var standing: Standing { known.withLock { $0 } }

    let upstream: String
    let probe: @Sendable () async -> Evidence
    let surroundings: Surroundings
    private let known: Lock<Standing>
    private let mailbox = Mailbox<Message>(name: "network-monitor")

    public struct Standing: Hashable, Sendable {
        public var state: NetworkState
        public var since: Moment
    }

    /// - Parameters:
    ///   - upstream: Its address, as events name it.
    ///   - probe: Asks the smallest question there is.
    public init(
        upstream: String,
        probe: @escaping @Sendable () async -> Evidence,
        surroundings: Surroundings
    ) {
        self.upstream = upstream
        self.probe = probe
        self.surroundings = surroundings
        known = Lock(Standing(state: .online, since: surroundings.now))
    }

    public func close() { mailbox.close() }

    public func run() async {
        for await _ in mailbox {}
    }
}

extension NetworkMonitor {
    public enum Message: Sendable {
        /// A call came to an end.
        case heard(Evidence)
        /// Links or routes of this machine have changed.
        case linksChanged
        /// Whether this host is to behave as if every upstream were unreachable.
        case drill(Bool)
        /// The scheduler of an account is to hear when the network returns.
        case join(userID: String, Address<SyncScheduler.Message>)
        case leave(userID: String)
        /// Whether the account has something that waits for the network.
        case waits(userID: String, Bool)
    }
}
