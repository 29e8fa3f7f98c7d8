import Glibc
import HTTP

/// A client that says exactly what it is told to, however wrong, and notices everything.
///
/// It blocks; nothing it waits for takes longer than ten seconds, or the test fails.
final class RawClient {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true

    convenience init(_ address: OpenListener.Address) throws {
        switch address {
        case .tcp(let address): self.init(connected: try Self.connectTCP(address))
        case .unix(let path): self.init(connected: try Self.connectUnix(path))
        }
    }

    init(connected descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_SNDTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
    }

    /// Lets the kernel keep little of what is not read.
    func receiveLittle() {
        var size: Int32 = 4_096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        guard trySend(bytes) else { throw Failure(description: "send: \(errno)") }
    }

    /// - Returns: Whether all of it could be sent.
    @discardableResult
    func trySend(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// - Returns: How many bytes the kernel takes within a millisecond.
    func sendNow(_ bytes: [UInt8]) -> Int {
        var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wish, 1, 1) == 1 else { return 0 }
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return max(
            0,
            bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        )
    }

    @discardableResult
    func trySend(_ text: String) -> Bool { trySend(Array(text.utf8)) }

    /// Says that nothing more will come.
    func closeSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
    }

    /// Leaves without a word: the other end sees the connection reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_LINGER,
            &option,
            socklen_t(MemoryLayout<linger>.size)
        )
        close()
    }

    deinit { close() }
}

// MARK: Reading

extension RawClient {
    /// The next answer. A body without a length lasts until the end of the connection.
    func answer(to method: HTTP.Method = .get) throws -> Answer {
        let (status, headers) = try head()
        if method == .head || status.rawValue == 204 || status.rawValue == 304 {
            return Answer(status: status, headers: headers, body: [])
        }
        if headers["Transfer-Encoding"] == "chunked" {
            return Answer(status: status, headers: headers, body: try chunks())
        }
        let length = headers["Content-Length"].flatMap { Int($0) }
        let body = try length.map { try take($0) } ?? rest()
        return Answer(status: status, headers: headers, body: body)
    }

    func head() throws -> (Status, Headers) {
        let lines = try take(until: "\r\n\r\n").split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let status else { throw Failure(description: "No status line: \(lines)") }
        var headers = Headers()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers.add(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        return (Status(rawValue: status), headers)
    }

    func chunk() throws -> [UInt8] {
        let line = try take(until: "\r\n")
        guard let size = Int(line.dropLast(), radix: 16) else {
            throw Failure(description: "No chunk: \(line)")
        }
        let bytes = try take(size)
        _ = try take(2)
        return bytes
    }

    private func chunks() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let next = try chunk()
            if next.isEmpty { return body }
            body += next
        }
    }

    /// Everything up to and with that text.
    func take(until end: String) throws -> String {
        let pattern = Array(end.utf8)
        var searched = 0
        while true {
            if let found = buffer.firstRange(of: pattern, from: searched) {
                return String(decoding: try take(found + pattern.count), as: UTF8.self)
            }
            searched = max(0, buffer.count - pattern.count)
            guard try fill() else {
                throw Failure(description: "The end instead of \(end.debugDescription): \(text)")
            }
        }
    }

    func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else {
                throw Failure(description: "\(buffer.count) of \(count) bytes.")
            }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// All that comes until the other end closes, in order or not.
    func rest() -> [UInt8] {
        while (try? fill()) == true {}
        defer { buffer = [] }
        return buffer
    }

    /// Whether the other end closes, or has closed, without another byte.
    var isClosed: Bool {
        buffer.isEmpty && read() <= 0 && errno != EAGAIN
    }

    enum Ending {
        case closed
        case reset
        /// Not without a word.
        case words
        case none
    }

    /// How the other end hangs up, or has hung up.
    var ending: Ending {
        guard buffer.isEmpty else { return .words }
        switch read() {
        case 0: return .closed
        case 1...: return .words
        default: return errno == EAGAIN ? .none : .reset
        }
    }

    /// Whether nothing has arrived up to now.
    var isSilent: Bool {
        var byte: UInt8 = 0
        return buffer.isEmpty
            && recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
            && errno == EAGAIN
    }

    private var text: String { String(decoding: buffer, as: UTF8.self) }

    private func fill() throws -> Bool {
        let before = buffer.count
        let count = read()
        if count > 0 { return true }
        if count == 0 { return false }
        guard errno != EAGAIN else {
            throw Failure(description: "Nothing for ten seconds after \(before) bytes: \(text)")
        }
        return false
    }

    private func read() -> Int {
        errno = 0
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count > 0 { buffer += piece[..<count] }
        return count
    }
}

// MARK: Connecting

extension RawClient {
    private static func connectTCP(_ address: SocketAddress) throws -> Int32 {
        var wish = addrinfo()
        wish.ai_flags = AI_NUMERICHOST
        wish.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, String(address.port), &wish, &found) == 0, let found else {
            throw Failure(description: "No address: \(address)")
        }
        defer { freeaddrinfo(found) }
        return try connect(
            found.pointee.ai_family,
            found.pointee.ai_addr,
            found.pointee.ai_addrlen
        )
    }

    private static func connectUnix(_ path: String) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try connect(AF_UNIX, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func connect(
        _ family: Int32,
        _ address: UnsafePointer<sockaddr>,
        _ length: socklen_t
    ) throws -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard Glibc.connect(descriptor, address, length) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw Failure(description: "connect: \(String(cString: strerror(code)))")
        }
        return descriptor
    }
}

extension [UInt8] {
    fileprivate func firstRange(of pattern: [UInt8], from start: Int) -> Int? {
        guard count >= pattern.count else { return nil }
        return (start...(count - pattern.count)).first {
            self[$0..<$0 + pattern.count].elementsEqual(pattern)
        }
    }
}
