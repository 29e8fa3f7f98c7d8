public import System

/// Opens WebSockets. One thread serves all of them.
public final class WebSocketClient: Sendable {
    public let configuration: Configuration
    private let driver: WebSocketDriver

    public convenience init(
        configuration: Configuration = Configuration(),
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(WebSocketError) {
        try self.init(
            configuration: configuration,
            timekeeper: timekeeper,
            nameLookup: NameLookup(),
            startThread: systemThread
        )
    }

    init(
        configuration: Configuration,
        timekeeper: any Timekeeper = SystemTimekeeper(),
        nameLookup: NameLookup,
        startThread: ThreadStart = systemThread
    ) throws(WebSocketError) {
        self.configuration = configuration
        if let path = configuration.extraAuthoritiesPath {
            do { _ = try Trust(path: path) } catch {
                let reason = WebSocketError.Reason.local(
                    "no PEM certificate can be read from \(path)"
                )
                throw WebSocketError(reason: reason, server: "none")
            }
        }
        do {
            driver = try WebSocketDriver(
                configuration: configuration,
                timekeeper: timekeeper,
                nameLookup: nameLookup,
                startThread: startThread
            )
        } catch {
            let reason = WebSocketError.Reason.local("there is no thread for it: \(error)")
            throw WebSocketError(reason: reason, server: "none")
        }
    }

    deinit { driver.stop() }

    /// Opens a socket to a `ws` or `wss` URL. Redirects are not followed.
    public func connect(
        _ url: String,
        headers: Headers = [:]
    ) async throws(WebSocketError) -> WebSocket {
        let order = try WebSocketOrder(url: url, headers: headers, proxies: configuration.proxies)
        let id = driver.nextID()
        let pipe = MessagePipe(window: configuration.window)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (opener: CheckedContinuation<WebSocketLink.Outcome, Never>) in
                let link = WebSocketLink(
                    id: id,
                    order: order,
                    pipe: pipe,
                    messageLimit: configuration.messageLimit,
                    opener: opener
                )
                if let reason = driver.submit(.open(link)) {
                    opener.resume(returning: .failure(reason))
                }
            }
        } onCancel: {
            driver.post(.cancel(id))
        }
        if case .failure(let reason) = outcome {
            throw WebSocketError(reason: reason, server: order.target.origin)
        }
        return WebSocket(driver: driver, id: id, pipe: pipe, server: order.target.origin)
    }

    /// How many sockets there are, those included that are being opened or closed.
    public func count() async -> Int { await driver.count() }

    /// Ends all sockets and returns when that is done.
    public func close() async {
        driver.stop()
        await driver.inbox.ended()
    }
}
