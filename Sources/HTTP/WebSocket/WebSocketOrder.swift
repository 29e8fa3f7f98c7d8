/// A request to open a WebSocket, checked and taken apart.
struct WebSocketOrder: Sendable {
    let target: Destination
    let headerLines: String
    let proxy: Proxy?

    struct Proxy: Equatable, Sendable {
        /// "user:password", or nothing.
        let credentials: String
        let host: String
        let port: Int
    }

    static let schemes = ["ws": 80, "wss": 443]

    init(url: String, headers: Headers, proxies: Proxies) throws(WebSocketError) {
        let target: Destination
        do {
            target = try Destination(url, schemes: Self.schemes)
        } catch {
            throw WebSocketError(reason: .invalidRequest(error.text), server: "no server")
        }
        self.target = target
        do {
            proxy = try Self.check(target, headers, proxies.proxy(for: target))
        } catch {
            throw WebSocketError(reason: .invalidRequest(error.text), server: target.origin)
        }
        headerLines = headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }

    /// Whose address is looked up: the proxy's if there is one, since the proxy looks up the host's.
    var nextHost: String { proxy?.host ?? target.host }

    var hostField: String {
        let host = target.host.utf8.contains(UInt8(ascii: ":")) ? "[\(target.host)]" : target.host
        return target.port == Self.schemes[target.scheme] ? host : "\(host):\(target.port)"
    }

    private static func check(
        _ target: Destination,
        _ headers: Headers,
        _ proxy: String?
    ) throws(Destination.Flaw) -> Proxy? {
        // The library cuts longer ones off in its Host header.
        guard target.host.utf8.count <= 100 else {
            throw Destination.Flaw(text: "the host is too long")
        }
        if let flaw = headers.flaw { throw Destination.Flaw(text: flaw) }
        guard let proxy else { return nil }
        return try self.proxy(proxy)
    }

    private static func proxy(_ url: String) throws(Destination.Flaw) -> Proxy {
        var rest = Substring(url)
        if let colon = url.firstRange(of: "://") {
            guard url[..<colon.lowerBound].lowercased() == "http" else {
                throw Destination.Flaw(text: "WebSockets go through http:// proxies only")
            }
            rest = url[colon.upperBound...]
        }
        let credentials = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        let target = try Destination("http://" + place, schemes: ["http": 1080])
        return Proxy(
            credentials: plain(credentials),
            host: target.host,
            port: target.port
        )
    }

    /// As curl sends them for requests, which has them from the same address: what is escaped there stands for itself,
    /// and whoever has no password has an empty one.
    private static func plain(_ credentials: Substring) -> String {
        guard !credentials.isEmpty else { return "" }
        let text = Percent.decode(String(credentials)) ?? String(credentials)
        return credentials.contains(":") ? text : text + ":"
    }
}
