extension Client {
    /// What a server answered, whole.
    public struct Response: Sendable {
        public let status: Status
        public let headers: Headers
        public let body: [UInt8]
        /// Where it came from in the end, after redirects.
        public let url: String
    }

    /// What a server answers: its head, and the body as it comes.
    public struct StreamedResponse: Sendable {
        public let status: Status
        public let headers: Headers
        public let body: ResponseBody
    }

    /// How much a client has to do at the moment.
    public struct Load: Sendable, Equatable {
        public let underWay: Int
        public let waiting: Int
    }
}
