import FoundationEssentials
import System
import Testing

@testable import HTTP

/// Where a handler is tried: the same test runs in memory and on a socket.
enum Venue: CaseIterable {
    case memory
    case live

    func host(
        _ handler: @escaping Handler,
        limits: Limits = Limits(),
        _ body: (any Transport) async throws -> Void
    ) async throws {
        switch self {
        case .memory: try await body(MemoryTransport(limits: limits, handler: handler))
        case .live:
            try await serve(handler, limits: limits) { server async throws in
                try await body(LiveTransport(address: server.address))
            }
        }
    }
}

/// A new connection for each request.
struct LiveTransport: Transport {
    let address: OpenListener.Address

    func send(
        _ method: HTTP.Method,
        _ target: String,
        headers: Headers,
        body: [UInt8]
    ) async throws -> Answer {
        let client = try RawClient(address)
        var text = "\(method) \(target) HTTP/1.1\r\n"
        if headers["Host"] == nil { text += "Host: localhost\r\n" }
        for (name, value) in headers.fields { text += "\(name): \(value)\r\n" }
        if !body.isEmpty { text += "Content-Length: \(body.count)\r\n" }
        try client.send(Array((text + "\r\n").utf8) + body)
        return try client.answer(to: method)
    }
}

/// Serves on a loopback port while the body runs, and sees to it that nothing is left behind.
func serve(
    _ handler: @escaping Handler,
    at place: Listener.Place = .tcp(SocketAddress(host: "127.0.0.1", port: 0)),
    limits: Limits = Limits(),
    timekeeper: any Timekeeper = SystemTimekeeper(),
    refused: @escaping @Sendable (Status) -> Void = { _ in },
    _ body: (Server) async throws -> Void
) async throws {
    let server = try Server.start(
        [Listener(name: "test", place)],
        limits: limits,
        timekeeper: timekeeper,
        refused: refused,
        handler: handler
    )
    do {
        try await body(server)
    } catch {
        await server.stop(within: .zero)
        throw error
    }
    let report = await server.stop(within: .seconds(5))
    #expect(report.stillRunning == 0)
    #expect(server.exchanges == 0)
    #expect(server.connections == 0)
}

extension Server {
    var address: OpenListener.Address { listeners[0].address }

    func client() throws -> RawClient { try RawClient(address) }

    func ask(_ text: String) throws -> Answer {
        let client = try client()
        try client.send(text)
        return try client.answer()
    }
}

/// What a server tells of those whom no handler has seen.
final class Refusals: Sendable {
    private let statuses = Lock<[Status]>([])

    var heard: [Status] { statuses.withLock { $0 } }

    @Sendable func hear(_ status: Status) { statuses.withLock { $0.append(status) } }
}

/// Time that passes when the test says so.
final class SteppedTime: Timekeeper {
    private struct State {
        var passed = Duration.seconds(1_000)
        var looks = 0
    }

    private let state = Lock(State())

    var now: Date { Date(timeIntervalSince1970: 0) }
    var elapsed: Duration {
        state.withLock { state in
            state.looks += 1
            return state.passed
        }
    }

    func sleep(for duration: Duration) async throws(CancellationError) {}

    /// Whoever looks next sees it.
    func pass(_ duration: Duration) {
        state.withLock { $0.passed += duration }
    }

    /// Returns when the server has noticed, or is no more.
    func pass(_ duration: Duration, at server: Server) async {
        let looks = state.withLock { state in
            state.passed += duration
            return state.looks
        }
        server.loop.nudge()
        while state.withLock({ $0.looks }) == looks, !server.loop.hasEnded { await Task.yield() }
    }

    /// Lets time go by for as long as something takes.
    func passing<Outcome: Sendable>(
        at server: Server,
        by step: Duration = .milliseconds(100),
        _ work: @Sendable () async -> Outcome
    ) async -> Outcome {
        let isOver = Flag()
        async let outcome = {
            defer { isOver.set() }
            return await work()
        }()
        while !isOver.isSet {
            await pass(step, at: server)
        }
        return await outcome
    }
}

/// Something a test waits for, as often as it happens.
///
/// No actor: its jobs would run on the server's thread when a handler calls it, and a test that
/// waits there for a client would go on there, and keep the server from answering that client.
final class Signals: Sendable {
    private struct State {
        var count = 0
        var waiting: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())

    func happen() {
        let due = state.withLock { state in
            state.count += 1
            let count = state.count
            defer { state.waiting.removeAll { $0.0 <= count } }
            return state.waiting.filter { $0.0 <= count }
        }
        for (_, continuation) in due { continuation.resume() }
    }

    /// Waits until it has happened so many times in all.
    func happened(_ times: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.count < times { state.waiting.append((times, continuation)) }
                return state.count >= times
            }
            if isDue { continuation.resume() }
        }
    }

    var total: Int { state.withLock(\.count) }
}

/// Reads the body and tells its length, or why it cannot be read.
func countingBody(_ request: Request, limit: Int = .max) async -> Response {
    do {
        return .text("\(try await request.body(limit: limit).count)")
    } catch {
        return .refusing(error)
    }
}

/// Reads the body piece by piece and tells its length.
func countingPieces(_ request: Request) async -> Response {
    var count = 0
    var pieces = request.body.makeAsyncIterator()
    do {
        while let piece = try await pieces.next() { count += piece.count }
        return .text("\(count)")
    } catch {
        return .refusing(error)
    }
}
