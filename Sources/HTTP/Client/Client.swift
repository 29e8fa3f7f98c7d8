import CCurl
import Synchronization
public import System

/// Talks HTTP to servers: many requests at once, over connections that are shared and used again.
///
/// Every request ends within its deadline: with a response, or with a ``ClientError`` that says
/// what went wrong and whether the server may have acted all the same. Nothing is ever sent a second
/// time on its own, except reads on a connection that turns out to be dead.
public final class Client: Sendable {
    public let configuration: Configuration
    let driver: Driver
    private let lastID = Atomic<UInt64>(0)

    public convenience init(
        configuration: Configuration = Configuration()
    ) throws(ClientError) {
        try self.init(configuration: configuration, startThread: systemThread)
    }

    init(configuration: Configuration, startThread: ThreadStart) throws(ClientError) {
        self.configuration = configuration
        var trust: Trust?
        if let path = configuration.extraAuthoritiesPath { trust = try Trust(path: path) }
        driver = try Driver(
            configuration: configuration,
            trust: trust,
            startThread: startThread
        )
    }

    deinit { driver.stop() }

    /// The client's own thread, as an executor: a task that prefers it starts and ends its requests
    /// without a change of threads. It must not compute for long there, and must not outlive the
    /// client.
    public var executor: LoopExecutor { driver.executor }

    public func load() async -> Load { await driver.load() }

    /// Cancels what is under way, closes all connections and returns when that is done. Requests
    /// from then on fail.
    public func close() async {
        driver.stop()
        await driver.inbox.ended()
    }

    /// Sends the request and returns the whole response.
    ///
    /// A status such as 404 or 500 is a response like any other.
    public func send(_ request: Request) async throws(ClientError) -> Response {
        var hop = request
        let start = configuration.timekeeper.elapsed
        while true {
            let limit = hop.bodyLimit ?? configuration.bodyLimit
            let order = try order(for: hop, bodyLimit: limit, start: start)
            let answer = try await exchange(order, id: nextID(), pipe: nil)
            let response = Response(
                status: answer.head.status ?? .internalError,
                headers: answer.head.headers,
                body: answer.body,
                url: hop.url
            )
            guard let next = try next(after: response.status, response.headers, hop, order) else {
                return response
            }
            hop = next
        }
    }

    /// Sends the request and returns as soon as the head of the response is there.
    ///
    /// A body that is still on its way then goes on its way while the response is read; its source
    /// is cancelled when the response has ended or nobody holds it any more.
    public func open(_ request: Request) async throws(ClientError) -> StreamedResponse {
        var hop = request
        let start = configuration.timekeeper.elapsed
        while true {
            let order = try order(for: hop, bodyLimit: hop.bodyLimit ?? .max, start: start)
            let pipe = ResponsePipe(window: configuration.streamWindow)
            let id = nextID()
            let answer = try await exchange(order, id: id, pipe: pipe)
            let response = StreamedResponse(
                status: answer.head.status ?? .internalError,
                headers: answer.head.headers,
                body: ResponseBody(pipe: pipe, client: self, id: id)
            )
            guard let next = try next(after: response.status, response.headers, hop, order) else {
                return response
            }
            hop = next
        }
    }

    private func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    // MARK: One exchange

    private func exchange(
        _ order: Order,
        id: UInt64,
        pipe: ResponsePipe?
    ) async throws(ClientError) -> Transfer.Answer {
        guard case .pipe(let source) = order.body, case .stream(let upload) = order.request.body
        else { return try await transfer(order, id: id, pipe: pipe).get() }
        guard pipe != nil else {
            // It is cancelled on leaving, or a source that has nothing to give would outlast the
            // deadline.
            async let _: Void = driver.pump(upload, into: source, id: id)
            return try await transfer(order, id: id, pipe: nil).get()
        }
        // The caller has the head, and goes on, while there is something to send: so this cannot be
        // a child of the call. It belongs to the transfer, whose end cancels it.
        source.own(
            Task(executorPreference: globalConcurrentExecutor) { [driver] in
                await driver.pump(upload, into: source, id: id)
            }
        )
        return try await transfer(order, id: id, pipe: pipe).get()
    }

    private func transfer(_ order: Order, id: UInt64, pipe: ResponsePipe?) async -> Transfer.Outcome
    {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { answer in
                let transfer = Transfer(
                    id: id,
                    order: order,
                    pipe: pipe,
                    configuration: configuration,
                    answer: answer
                )
                guard let refusal = driver.inbox.submit(.start(transfer)) else { return }
                transfer.fail(refusal == .cancelled ? .cancelled : .local("the client is closed"))
            }
        } onCancel: {
            driver.cancel(id)
        }
    }

    private func next(
        after status: Status,
        _ headers: Headers,
        _ request: Request,
        _ order: Order
    ) throws(ClientError) -> Request? {
        guard (300..<400).contains(status.rawValue) else { return nil }
        let redirect = Redirect(
            after: status,
            to: headers["Location"],
            from: request.url,
            method: request.method,
            left: request.redirectLimit
        )
        switch redirect {
        case .stay: return nil
        case .refuse(let text):
            throw ClientError(
                reason: .malformedAnswer(text),
                operation: request.operation,
                server: order.server,
                progress: .init(sent: .whole, isAnswered: true)
            )
        case .follow(let url, let keepsSecrets):
            return request.following(url, keepsSecrets: keepsSecrets)
        }
    }
}

extension Client.Request {
    fileprivate func following(_ url: String, keepsSecrets: Bool) -> Self {
        var next = self
        next.url = url
        next.redirectLimit -= 1
        if !keepsSecrets {
            for field in Redirect.secretFields + confidentialFields { next.headers[field] = nil }
            next.socketPath = nil
        }
        return next
    }
}
