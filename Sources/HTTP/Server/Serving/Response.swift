/// What a client is answered.
///
/// Length, date and connection headers are the server's business and are left out of `headers` if
/// they are there.
public struct Response: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Text of the program itself, sent from where it lies.
        case fixed(StaticString)
        /// Written while it is sent, by a producer that waits when the client is slow. Without a
        /// length it is sent in chunks. A producer that throws cuts the connection, so that the
        /// client does not take what it has for the whole.
        case stream(length: Int?, @Sendable (BodyWriter) async throws -> Void)
    }

    public var status: Status
    public var headers: Headers
    public var body: Body

    public init(_ status: Status = .ok, headers: Headers = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A line of plain text.
    public static func text(_ text: String, status: Status = .ok) -> Response {
        Response(
            status,
            headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: .bytes(Array(text.utf8))
        )
    }

    /// The answer to a body that could not be read.
    public static func refusing(_ error: BodyError) -> Response {
        .text(error.description, status: error.status)
    }

    static func plain(_ text: StaticString, _ status: Status) -> Response {
        Response(
            status,
            headers: ["Content-Type": "text/plain; charset=utf-8"],
            body: .fixed(text)
        )
    }

    var length: Int? {
        switch body {
        case .bytes(let bytes): bytes.count
        case .fixed(let text): text.utf8CodeUnitCount
        case .stream(let length, _): length
        }
    }
}

extension Status {
    static let expectationFailed = Status(rawValue: 417)
    static let notImplemented = Status(rawValue: 501)
}
