import Glibc
import System
import TestSupport

/// A TCP server on the loopback that sends exactly what a test tells it to.
///
/// Each connection has a thread that runs the script; the script may block.
final class ScriptedServer: Sendable {
    let port: Int
    private let listener: Int32
    private let state = Lock(State())
    private let accepting = Lock<Thread.Handle?>(nil)

    private struct State {
        var open: Set<Int32> = []
        var threads: [Thread.Handle] = []
        var accepted = 0
    }

    /// - Parameter address: 127.0.0.1; 0 is all there are, of which 127.0.0.0/8 are the loopback's.
    convenience init(
        at address: UInt32 = 0x7F00_0001,
        _ script: @escaping @Sendable (ScriptedConnection) -> Void
    ) throws {
        self.init(on: try listenOnLoopback(at: address), script)
    }

    /// One that listens at a Unix socket.
    convenience init(
        path: String,
        _ script: @escaping @Sendable (ScriptedConnection) -> Void
    ) throws {
        self.init(on: (try listen(atPath: path), 0), script)
    }

    private init(
        on place: (descriptor: Int32, port: Int),
        _ script: @escaping @Sendable (ScriptedConnection) -> Void
    ) {
        (listener, port) = place
        let handle = Thread.start(name: "scripted") { [self] in accept(script) }
        accepting.withLock { $0 = handle }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    /// How many connections there have been.
    var acceptedCount: Int { state.withLock(\.accepted) }
    /// How many connections there are.
    var openCount: Int { state.withLock(\.open.count) }

    private func accept(_ script: @escaping @Sendable (ScriptedConnection) -> Void) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            let index = state.withLock { state in
                state.open.insert(descriptor)
                state.accepted += 1
                return state.accepted
            }
            let connection = ScriptedConnection(descriptor, index: index) { [self] in
                // Before it is closed: its number may be another's the moment after.
                state.withLock { _ = $0.open.remove(descriptor) }
            }
            let thread = Thread.start(name: "script") {
                script(connection)
                connection.close()
            }
            state.withLock { $0.threads.append(thread) }
        }
    }

    /// From now on nobody is let in; those who are may stay.
    func turnAway() {
        shutdown(listener, Int32(SHUT_RDWR))
        accepting.withLock { $0.take() }?.join()
    }

    /// Breaks all connections and returns when no script runs any more.
    func stop() {
        turnAway()
        let threads = state.withLock { state in
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { state.threads = [] }
            return state.threads
        }
        for thread in threads { thread.join() }
        close(listener)
    }
}

/// One connection, seen from the server.
final class ScriptedConnection: Sendable {
    /// From 1, in the order of arrival.
    let index: Int
    private let descriptor: Int32
    private let buffer = Lock<[UInt8]>([])
    private let isClosed = Lock(false)
    private let willClose: @Sendable () -> Void

    init(_ descriptor: Int32, index: Int, willClose: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.index = index
        self.willClose = willClose
    }

    /// The next request: its head as text and its body; `nil` if the client has gone.
    func request() -> (head: String, body: [UInt8])? {
        guard let head = head() else { return nil }
        guard let length = field("content-length", of: head).flatMap({ Int($0) }) else {
            return (head, field("transfer-encoding", of: head) == nil ? [] : chunkedBody() ?? [])
        }
        return bytes(length).map { (head, $0) }
    }

    func head() -> String? {
        while true {
            let head = buffer.withLock { buffer -> String? in
                guard let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
                defer { buffer.removeSubrange(..<end.upperBound) }
                return String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
            }
            if let head { return head }
            guard fill() else { return nil }
        }
    }

    func bytes(_ count: Int) -> [UInt8]? {
        while buffer.withLock({ $0.count < count }) {
            guard fill() else { return nil }
        }
        return buffer.withLock { buffer in
            defer { buffer.removeSubrange(..<count) }
            return Array(buffer[..<count])
        }
    }

    private func line() -> String? {
        var text: [UInt8] = []
        while let byte = bytes(1)?[0] {
            if byte == 0x0A { return String(decoding: text.dropLast(), as: UTF8.self) }
            text.append(byte)
        }
        return nil
    }

    private func chunkedBody() -> [UInt8]? {
        var body: [UInt8] = []
        while let size = line().flatMap({ Int($0, radix: 16) }) {
            guard size > 0 else {
                _ = line()
                return body
            }
            guard let chunk = bytes(size), bytes(2) != nil else { return nil }
            body += chunk
        }
        return nil
    }

    private func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return false }
        buffer.withLock { $0 += chunk[..<count] }
        return true
    }

    /// Waits until the client has gone.
    func waitForEnd() {
        while fill() { buffer.withLock { $0 = [] } }
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// - Returns: Whether all could be sent.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool { sendAll(descriptor, bytes) }

    /// A whole response.
    @discardableResult
    func respond(
        _ status: String = "200 OK",
        headers: [String] = [],
        body: [UInt8] = []
    ) -> Bool {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + headers
        return send(Array(head.map { $0 + "\r\n" }.joined().utf8) + Array("\r\n".utf8) + body)
    }

    /// Ends the connection the hard way.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_LINGER,
            &linger,
            socklen_t(MemoryLayout<Glibc.linger>.size)
        )
        close()
    }

    func close() {
        let wasOpen = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard wasOpen else { return }
        willClose()
        Glibc.close(descriptor)
    }
}

/// The value of a header field in a head, without regard to case.
func field(_ name: String, of head: String) -> String? {
    head.split(separator: "\r\n").lazy
        .first { $0.lowercased().hasPrefix(name + ":") }
        .map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
}

private func listen(atPath path: String) throws -> Int32 {
    let listener = try system("socket") { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            try system("bind \(path)") { bind(listener, pointer, size) }
            try system("listen") { Glibc.listen(listener, 64) }
        }
    }
    return listener
}

/// Something that a script waits for and a test lets happen, or the other way around.
final class Gate: Sendable {
    private let semaphore = Semaphore()
    func open() { semaphore.signal() }
    func pass() { semaphore.wait() }
}
