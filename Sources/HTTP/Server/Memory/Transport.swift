/// A way for requests to reach a handler: over a socket, or without one.
public protocol Transport: Sendable {
    func send(
        _ method: Method,
        _ target: String,
        headers: Headers,
        body: [UInt8]
    ) async throws -> Answer
}

extension Transport {
    public func send(
        _ method: Method,
        _ target: String,
        headers: Headers = [:],
        body: String = ""
    ) async throws -> Answer {
        try await send(method, target, headers: headers, body: Array(body.utf8))
    }
}

/// An answer as it reached the client.
public struct Answer: Sendable, Equatable {
    public let status: Status
    public let headers: Headers
    public let body: [UInt8]

    public init(status: Status, headers: Headers, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// Hands requests to a handler in this process, under the rules that hold on a socket: what is
/// refused there is refused here, lengths are told, `HEAD` has no body. Only that there is no
/// connection which could be upgraded: there it ends with the head.
public struct MemoryTransport: Transport {
    private let handler: Handler
    private let limits: Limits

    public init(limits: Limits = Limits(), handler: @escaping Handler) {
        self.limits = limits
        self.handler = handler
    }

    public func send(
        _ method: Method,
        _ target: String,
        headers: Headers,
        body: [UInt8]
    ) async throws -> Answer {
        do {
            let request = try request(method, target, headers, body)
            return try await Answer(await handler(request), to: method)
        } catch let refusal as Refusal {
            return try await Answer(refusal.response, to: method)
        }
    }

    private func request(
        _ method: Method,
        _ target: String,
        _ headers: Headers,
        _ body: [UInt8]
    ) throws(Refusal) -> Request {
        var headers = headers
        headers["Host"] = headers["Host"] ?? "localhost"
        if !body.isEmpty { headers["Content-Length"] = String(body.count) }
        let head = try RequestHead(
            method: method,
            target: Array(target.utf8),
            minorVersion: 1,
            headers: headers,
            limits: limits
        )
        return Request(head.method, head.target, headers: head.headers, body: .bytes(body))
    }
}

extension Answer {
    fileprivate init(_ response: Response, to method: Method) async throws {
        var headers = response.headers
        if let length = response.length { headers["Content-Length"] = String(length) }
        self.init(
            status: response.status,
            headers: headers,
            body: method == .head ? [] : try await response.collect()
        )
    }
}

extension Response {
    /// The whole body, however long it is.
    func collect() async throws -> [UInt8] {
        switch body {
        case .bytes(let bytes): return bytes
        case .fixed(let text): return text.withUTF8Buffer { Array($0) }
        case .stream(_, let produce):
            let collector = Collector()
            let writer = BodyWriter(sink: .memory { await collector.take($0) })
            try await produce(writer)
            return await collector.bytes
        case .upgrade: return []
        case .cut: throw ConnectionCut()
        }
    }
}

private actor Collector {
    private(set) var bytes: [UInt8] = []

    func take(_ piece: [UInt8]) { bytes += piece }
}
