import Glibc

/// One end of a connection on which every byte is chosen. It blocks, for ten seconds at most.
public final class TextConnection {
    public struct Failure: Error {
        public let operation: String
        public let code: Int32
    }

    private let descriptor: Int32

    public init(_ host: String, port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &name.sin_addr)
        try connect(&name)
    }

    public init(socket path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        try connect(&name)
    }

    /// Over one end of a pair, of which somebody else has the other.
    public init(connected descriptor: Int32) {
        self.descriptor = descriptor
        beImpatient()
    }

    private func connect<Name>(_ name: inout Name) throws {
        beImpatient()
        let length = socklen_t(MemoryLayout<Name>.size)
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, length)
            }
        }
        if result != 0 { throw Failure(operation: "connect", code: errno) }
    }

    private func beImpatient() {
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    }

    public func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// All that comes until the other end closes, or says the words that are waited for.
    public func read(until words: String? = nil) throws -> String {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count < 0 { throw Failure(operation: "recv", code: errno) }
            text += chunk[..<count]
            let whole = String(decoding: text, as: UTF8.self)
            if count == 0 || words.map(whole.contains) == true { return whole }
        }
    }

    /// Sends a request and reads its answer to the end of the connection.
    public func ask(_ line: String, _ headers: [String] = [], body: String = "") throws -> Answer {
        var fields = headers + ["Connection: close"]
        if !body.isEmpty { fields.append("Content-Length: \(body.utf8.count)") }
        let head = (["\(line) HTTP/1.1"] + fields).joined(separator: "\r\n")
        send(head + "\r\n\r\n" + body)
        return try Answer(try read())
    }

    public struct Answer {
        public let status: Int
        public let head: String
        public let body: String

        public init(_ text: String) throws {
            let parts = text.split(
                separator: "\r\n\r\n",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            head = String(parts[0])
            body = parts.count > 1 ? String(parts[1]) : ""
            status = Int(text.dropFirst(9).prefix(3)) ?? 0
        }

        public func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first {
                $0.lowercased().hasPrefix(name.lowercased() + ":")
            }
            .map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
    }

    deinit { close(descriptor) }
}
