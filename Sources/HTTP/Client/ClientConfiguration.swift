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
        /// Hears of every request that has ended. Called on the client's thread: be quick.
        public var observer: (@Sendable (Observation) -> Void)?

        public init() {}
    }

    /// What became of one request.
    public struct Observation: Sendable {
        public let operation: String
        /// The first digit of the status, or `nil` if there was no whole response.
        public let statusClass: Int?
        /// `nil` if there was a whole response.
        public let failure: ClientError.Reason?
        public let duration: Duration
        /// How many connections had to be opened; 0 means that one was used again (or, in a
        /// failure, that none was reached).
        public let openedConnections: Int
    }
}
