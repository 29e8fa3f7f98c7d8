import System

/// A request made ready to be sent: checked, with nothing left to look up.
///
/// An object, because it goes through many hands, and a copy of all that it holds would cost each.
final class Order: Sendable {
    let request: Client.Request
    let body: UploadBody
    let headerLines: [String]
    let proxy: String
    /// Whether the server may turn out to take many requests over one connection.
    let mayShare: Bool
    let deadlines: Client.Deadlines
    let bodyLimit: Int
    /// When it was asked for; the total deadline counts from here, redirects included.
    let start: Duration
    /// Who is talked to, as errors name it and places are counted.
    let server: String

    init(
        request: Client.Request,
        body: UploadBody,
        headerLines: [String],
        proxy: String,
        mayShare: Bool,
        deadlines: Client.Deadlines,
        bodyLimit: Int,
        start: Duration,
        server: String
    ) {
        self.request = request
        self.body = body
        self.headerLines = headerLines
        self.proxy = proxy
        self.mayShare = mayShare
        self.deadlines = deadlines
        self.bodyLimit = bodyLimit
        self.start = start
        self.server = server
    }

    var end: Duration { start + deadlines.total }

    /// Whether sending it a second time does no harm.
    var isRepeatable: Bool { [.get, .head, .options].contains(request.method) }
}

extension Client {
    /// Checks a request and looks up all that it takes.
    func order(
        for request: Request,
        bodyLimit: Int,
        start: Duration
    ) throws(ClientError) -> Order {
        let flawed = { (text: String, server: String) in
            ClientError(
                reason: .invalidRequest(text),
                operation: request.operation,
                server: server,
                progress: ClientError.Progress()
            )
        }
        let target: Destination
        do {
            target = try Destination(request.url, schemes: Redirect.schemes)
        } catch {
            throw flawed(error.text, "no server")
        }
        let server = request.socketPath ?? target.origin
        if let flaw = request.flaw { throw flawed(flaw, server) }
        let proxy = request.socketPath == nil ? configuration.proxies.proxy(for: target) ?? "" : ""
        return Order(
            request: request,
            body: request.uploadBody,
            headerLines: request.headerLines,
            proxy: proxy,
            mayShare: target.scheme == "https" && proxy.isEmpty,
            deadlines: request.deadlines ?? configuration.deadlines,
            bodyLimit: bodyLimit,
            start: start,
            server: server
        )
    }
}

extension Client.Request {
    fileprivate var uploadBody: UploadBody {
        switch body {
        // Without a body these would go without a length, which some servers refuse.
        case .none: [.post, .put, .patch].contains(method) ? .bytes([]) : .none
        case .bytes(let bytes): .bytes(bytes)
        case .stream(let upload):
            upload.length == 0 ? .bytes([]) : .pipe(RequestPipe(length: upload.length))
        }
    }

    /// What cannot be sent as it is, if anything.
    fileprivate var flaw: String? {
        guard method.rawValue.utf8.allSatisfy(\.isTokenByte), !method.rawValue.isEmpty else {
            return "the method is not a word"
        }
        if hasBody && [.get, .head].contains(method) { return "\(method) with a body" }
        if case .stream(let upload) = body, upload.length ?? 0 < 0 {
            return "a body of less than no bytes"
        }
        return headers.flaw
    }

    private var hasBody: Bool {
        if case .none = body { false } else { true }
    }

    /// The fields as curl wants them, and an empty one where it would add a field of its own.
    fileprivate var headerLines: [String] {
        var lines = headers.fields.map { name, value in
            value.isEmpty ? "\(name);" : "\(name): \(value)"
        }
        guard hasBody else { return lines }
        // curl would wait a second for leave to send a large body.
        lines.append("Expect:")
        if headers["Content-Type"] == nil { lines.append("Content-Type:") }
        return lines
    }
}

extension Headers {
    /// What would break out of its line, if anything.
    var flaw: String? {
        for (name, value) in fields {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenByte) else {
                return "a header's name is not a word"
            }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "the value of header \(name) has a control character"
            }
        }
        return nil
    }
}
