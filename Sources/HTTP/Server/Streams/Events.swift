/// An event of an event stream (`text/event-stream`).
public struct Event: Sendable, Equatable {
    /// What a client can resume after, by `Last-Event-ID`.
    public var id: String?
    public var name: String?
    public var data: String
    /// Milliseconds after which a client that lost the connection is to come back.
    public var retry: Int?

    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Int? = nil) {
        self.data = data
        self.name = name
        self.id = id
        self.retry = retry
    }

    /// As it goes over the wire.
    ///
    /// Data may have many lines, whichever way they end. A name or an id must have one only, so
    /// what follows a line's end in them is left out, rather than let to be read as another field.
    public var wireForm: String {
        var text = ""
        if let id { text += "id: \(id.firstLine)\n" }
        if let name { text += "event: \(name.firstLine)\n" }
        if let retry { text += "retry: \(max(0, retry))\n" }
        for line in data.lines { text += "data: \(line)\n" }
        return text + "\n"
    }
}

/// Sends events to one client.
public struct EventStream: Sendable {
    private let writer: BodyWriter

    init(writer: BodyWriter) { self.writer = writer }

    public func send(_ event: Event) async throws(ClientLeft) {
        try await writer.write(event.wireForm)
    }

    /// A line that clients skip. Sent now and then, it keeps what lies in between from giving up.
    public func comment(_ text: String = "") async throws(ClientLeft) {
        try await writer.write(text.lines.map { ": \($0)\n" }.joined() + "\n")
    }
}

extension Response {
    /// An event stream, open for as long as the closure runs.
    public static func events(
        _ send: @escaping @Sendable (EventStream) async throws -> Void
    ) -> Response {
        Response(
            headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
            body: .stream(length: nil) { try await send(EventStream(writer: $0)) }
        )
    }
}

extension String {
    /// In the sense of the format: CR, LF and CR LF end a line, nothing else does.
    fileprivate var lines: [String] {
        var lines = [""]
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            switch (previous, scalar) {
            case ("\r", "\n"): break
            case (_, "\r"), (_, "\n"): lines.append("")
            default: lines[lines.count - 1].unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        return lines
    }

    fileprivate var firstLine: String { lines.first ?? "" }
}
