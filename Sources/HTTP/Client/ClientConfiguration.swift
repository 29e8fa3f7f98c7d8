public import System

extension Client {
    /// What all requests of a client have in common.
    public struct Configuration: Sendable {
        public var userAgent = "holdfast"
        public var deadlines = Deadlines()
        public var proxies = Proxies()

        /// A file of PEM certificates that are trusted besides those of the system.
        public var extraAuthoritiesPath: String?

        /// How many requests may be under way to one host; more wait for their turn, in order.
        public var requestsPerHost = 64
        /// How many connections are kept open for later requests.
        public var keptConnections = 128
        /// How long a connection may idle and still be used again.
        public var connectionAge: Duration = .seconds(90)

        /// How many bytes of decoded body ``Client/send(_:)`` accepts.
        public var bodyLimit = 8 << 20
        /// How many bytes a response's head may have.
        public var headLimit = 64 << 10
        /// How many fields a response's head may have.
        public var fieldLimit = 200
        /// How many bytes of a stream wait for their reader.
        public var streamWindow = 256 << 10

        public var timekeeper: any Timekeeper = SystemTimekeeper()

        public init() {}
    }
}
