import Glibc
import HTTP

@testable import EmbeddedUpstream

/// A connection on which the bytes are seen as they are. Waits ten seconds at most.
final class Wire {
    struct Silence: Error {}

    private let descriptor: Int32
    private var bytes: [UInt8] = []
    /// Why the connection is over, if it is: 0 after an orderly end.
    private(set) var ending: Int32?

    init(_ upstream: EmbeddedUpstream) throws {
        guard let address = upstream.address else { throw Silence() }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = in_port_t(address.port).bigEndian
        target.sin_addr.s_addr = inet_addr(address.host)
        let code = withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Silence() }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) {
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// A request of a user's.
    func ask(_ guest: Guest, _ method: HTTP.Method, _ path: String, _ body: String = "") {
        send(
            """
            \(method) \(path) HTTP/1.1\r
            Host: x\r
            Bitwarden-Client-Version: 2026.7.0\r
            Authorization: Bearer \(guest.token)\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
        )
    }

    func take(_ count: Int) throws -> [UInt8] {
        while bytes.count < count {
            guard try fill() else { throw Silence() }
        }
        defer { bytes.removeFirst(count) }
        return Array(bytes.prefix(count))
    }

    /// The head of an answer.
    func head() throws -> String {
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
            head += String(decoding: try take(1), as: UTF8.self)
        }
        return head
    }

    /// Everything up to the end of the connection.
    func rest() throws -> [UInt8] {
        while try fill() {}
        defer { bytes = [] }
        return bytes
    }

    private func fill() throws -> Bool {
        guard ending == nil else { return false }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count < 0, errno == EAGAIN { throw Silence() }
        if count <= 0 { ending = count == 0 ? 0 : errno }
        bytes += piece.prefix(max(0, count))
        return count > 0
    }
}
