/// What a client is answered.
///
/// Length and connection headers are the server's business and are left out of `headers` if they are
/// there. Its date is the server's, unless there is one.
public struct Response: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Text of the program itself, sent from where it lies.
        case fixed(StaticString)
        /// Written while it is sent, by a producer that waits when the client is slow. Without a
        /// length it is sent in chunks. A producer that throws cuts the connection, so that the
        /// client does not take what it has for the whole.
        case stream(length: Int?, @Sendable (BodyWriter) async throws -> Void)
        /// None: with the head, which says 101 and in `Upgrade` what comes instead, HTTP ends on this
        /// connection. It is lent to the closure, and closed when that returns. The closure may be
        /// never called, because the client has left.
        case upgrade(@Sendable (UpgradedConnection) async -> Void)
        /// Not a byte, of the head neither: the connection is closed, or reset, as if the server had
        /// failed at that moment. For servers that are there to try their clients.
        case cut(reset: Bool)
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

    /// From now on, the connection speaks that protocol.
    public static func upgrade(
        to protocolName: String,
        headers: Headers = [:],
        _ take: @escaping @Sendable (UpgradedConnection) async -> Void
    ) -> Response {
        var response = Response(.switchingProtocols, headers: headers, body: .upgrade(take))
        response.headers["Upgrade"] = protocolName
        return response
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
        case .upgrade, .cut: nil
        }
    }
}

/// A connection on which HTTP has ended.
///
/// Whoever has it reads, writes and waits for the descriptor as it likes. Closing is for the server,
/// of whose connections it remains one: when the server stops, both directions are shut down and the
/// task that holds it is cancelled, and it is to be given back then.
public struct UpgradedConnection: Sendable {
    /// Non-blocking.
    public let descriptor: Int32
    /// What the client had sent right behind its request. It comes before all that can be read.
    public let received: [UInt8]
}

/// There is no answer, or no end of it, because whoever answers has cut the connection.
public struct ConnectionCut: Error, Equatable {
    public init() {}
}

extension Status {
    public static let switchingProtocols = Status(rawValue: 101)
    static let expectationFailed = Status(rawValue: 417)
    static let notImplemented = Status(rawValue: 501)
}
