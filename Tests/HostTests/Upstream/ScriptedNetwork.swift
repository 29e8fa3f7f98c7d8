import HTTP
import System

@testable import Host

/// A network that does as a test tells it.
final class ScriptedNetwork: Network {
    typealias Exchange = @Sendable (Client.Request) async throws(NetworkFailure) -> NetworkAnswer
    typealias Line = @Sendable (Int) async throws(NetworkFailure) -> ScriptedLine

    private let exchange: Exchange
    private let line: Line
    private let state = Lock((requests: [Client.Request](), urls: [String]()))

    init(
        line: @escaping Line,
        answering exchange: @escaping Exchange = { (_: Client.Request) in
            NetworkAnswer(status: 500)
        }
    ) {
        self.exchange = exchange
        self.line = line
    }

    /// One without a hub.
    convenience init(_ exchange: @escaping Exchange) {
        self.init(
            line: { (_: Int) throws(NetworkFailure) in throw .scripted(.lost) },
            answering: exchange
        )
    }

    /// What was asked so far.
    var requests: [Client.Request] { state.withLock(\.requests) }
    /// Which lines were asked for.
    var lineURLs: [String] { state.withLock(\.urls) }

    func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        state.withLock { $0.requests.append(request) }
        return try await exchange(request)
    }

    func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        let answer = try await send(request)
        let rest = Lock<[UInt8]?>(answer.body)
        return StreamedAnswer(status: answer.status, headers: answer.headers) {
            rest.withLock { $0.take() }
        }
    }

    func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        let number = state.withLock { state in
            state.urls.append(url)
            return state.urls.count
        }
        return try await line(number)
    }
}

/// A line whose other end is a test.
final class ScriptedLine: HubLine {
    private let stream: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let sent = Lock<[[UInt8]]>([])

    init(_ messages: [UInt8]...) {
        (stream, continuation) = AsyncStream.makeStream()
        for message in messages { continuation.yield(message) }
    }

    var sentMessages: [[UInt8]] { sent.withLock(\.self) }

    func next() async throws(NetworkFailure) -> [UInt8]? {
        var messages = stream.makeAsyncIterator()
        return await messages.next()
    }
    func send(text: String) async throws(NetworkFailure) { post(Array(text.utf8)) }
    func post(_ bytes: [UInt8]) { sent.withLock { $0.append(bytes) } }
    func hangUp() { continuation.finish() }
}

extension NetworkFailure {
    static func scripted(_ kind: Kind, isOutcomeUnknown: Bool = false) -> NetworkFailure {
        NetworkFailure(kind, "scripted", isOutcomeUnknown: isOutcomeUnknown)
    }
}
