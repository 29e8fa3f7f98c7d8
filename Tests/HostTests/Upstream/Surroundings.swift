import EmbeddedUpstream
import Glibc
import System
import TestSupport
import Testing

// What stands between a host and its upstream: certificates, front servers, proxies, and worse.

/// A TCP server on the loopback; each connection has a thread that may block.
final class LoopbackServer: Sendable {
    let port: Int
    private let listener: Int32
    private let open = Lock<Set<Int32>>([])
    private let threads = Lock<[Thread.Handle]>([])
    private let accepting = Lock<Thread.Handle?>(nil)

    init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
        let (listener, port) = try listenOnLoopback()
        (self.listener, self.port) = (listener, port)
        let thread = Thread.start(name: "loopback") { [self] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                open.withLock { _ = $0.insert(descriptor) }
                let serving = Thread.start(name: "served") { [self] in
                    serve(descriptor)
                    open.withLock { _ = $0.remove(descriptor) }
                    close(descriptor)
                }
                threads.withLock { $0.append(serving) }
            }
        }
        accepting.withLock { $0 = thread }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        accepting.withLock { $0.take() }?.join()
        open.withLock { $0.forEach { shutdown($0, Int32(SHUT_RDWR)) } }
        let served = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        served.forEach { $0.join() }
        close(listener)
    }
}

/// A proxy for whom every name lies on the loopback.
final class Relay: Sendable {
    private final class Record: Sendable {
        let lines = Lock<[String]>([])
    }

    private let record = Record()
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { [record] in Self.serve($0, record) }
    }

    /// The first lines of what was asked of it.
    var lines: [String] { record.lines.withLock(\.self) }

    var url: String { "http://127.0.0.1:\(server.port)" }

    func stop() { server.stop() }

    private static func serve(_ client: Int32, _ record: Record) {
        guard let head = readHead(client) else { return }
        let line = String(head.prefix { $0 != "\r\n" })
        record.lines.withLock { $0.append(line) }
        let words = line.split(separator: " ").map(String.init)
        let isTunnel = words[0] == "CONNECT"
        let target = isTunnel ? words[1][...] : words[1].dropFirst("http://".count)
        let place = target.prefix { $0 != "/" }
        guard let port = place.split(separator: ":").last.flatMap({ UInt16($0) }),
            let other = try? connectToLoopback(port)
        else { return }
        if isTunnel {
            sendAll(client, "HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        } else {
            let path = target.dropFirst(place.count)
            sendAll(other, "\(words[0]) \(path) HTTP/1.1\r\nConnection: close".utf8)
            sendAll(other, head.dropFirst(line.count).utf8)
        }
        splice(client, other)
        close(other)
    }

    private static func readHead(_ descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard read(descriptor, &byte, 1) == 1 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func splice(_ one: Int32, _ other: Int32) {
        var ends = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while poll(&ends, 2, -1) > 0 {
            for (index, end) in ends.enumerated() where end.revents != 0 {
                let count = read(end.fd, &bytes, bytes.count)
                guard count > 0, sendAll(ends[1 - index].fd, bytes[..<count]) else { return }
            }
        }
    }
}

/// An nginx before an upstream, which shows a certificate of another kind at each of its ports. The
/// upstream is below `/vw` there.
final class Front: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// For 127.0.0.1 and `vault.test`.
        case good
        case expired
        /// For a host of another name.
        case other
        /// From an authority that nobody knows.
        case stranger
        /// None, and no TLS at all.
        case plain
    }

    private let scratch: Scratch
    private let ports: [Kind: Int]

    /// Where nginx is; nil if this machine has none.
    static var program: String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"])
            .map { "\($0)/nginx" }
            .first { access($0, X_OK) == 0 }
    }

    init(before upstream: EmbeddedUpstream) throws {
        scratch = try Scratch()
        let made = try Child.run("/bin/sh", ["-c", Self.certificates], input: scratch.path)
        try #require(made.status == 0, "openssl makes the certificates: \(made.complaint)")
        ports = try Self.freePorts()
        let file = scratch.file("nginx.conf")
        try Files.replace(file, with: Array(configuration(upstream.url).utf8))
        // It returns when it listens.
        let log = scratch.file("error.log")
        let program = try #require(Self.program, "nginx is there (make tools)")
        let started = try Child.run(program, ["-p", scratch.path, "-c", file, "-e", log])
        try #require(started.status == 0, "nginx starts: \(started.complaint)")
    }

    var authorityPath: String { scratch.file("ca.pem") }

    func port(_ kind: Kind) -> Int { ports[kind] ?? 0 }

    /// The requests that it understood.
    var requests: [String] {
        let log = (try? Files.read(scratch.file("access.log"))) ?? []
        return String(decoding: log, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.contains(" /vw/") }
    }

    func stop() {
        let text = (try? Files.read(scratch.file("pid"))).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let pid = text?.split(separator: "\n").first.flatMap({ pid_t($0) }) else { return }
        kill(pid, SIGTERM)
    }

    private static func freePorts() throws -> [Kind: Int] {
        let places = try Kind.allCases.map { ($0, try listenOnLoopback()) }
        for (_, place) in places { close(place.descriptor) }
        return Dictionary(uniqueKeysWithValues: places.map { ($0, $1.port) })
    }

    private static let certificates = """
        read directory; cd "$directory" || exit 1
        key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        authority() { openssl req -x509 $key -keyout $1.key -out $1.pem -days 2 -subj /CN=$1; }
        certificate() {
          openssl req $key -keyout $1.key -out $1.csr -subj /CN=$1 && echo "subjectAltName=$2" > ext
          openssl x509 -req -in $1.csr -CA $3.pem -CAkey $3.key -CAcreateserial -days $4 \\
            -extfile ext -out $1.pem
        }
        authority ca && authority strangers &&
        certificate good IP:127.0.0.1,DNS:vault.test ca 2 &&
        certificate expired IP:127.0.0.1 ca -1 &&
        certificate other DNS:other.test ca 2 &&
        certificate stranger IP:127.0.0.1 strangers 2
        """

    private func configuration(_ upstream: String) -> String {
        let folder = scratch.path
        let servers = Kind.allCases.map { kind in
            let tls = """
                ssl_certificate \(folder)/\(kind).pem; ssl_certificate_key \(folder)/\(kind).key;
                """
            return """
                server {
                  listen 127.0.0.1:\(port(kind))\(kind == .plain ? "" : " ssl");
                  \(kind == .plain ? "" : tls)
                  location /vw/ { proxy_pass \(upstream)/; }
                  location = /vw/notifications/hub {
                    proxy_pass \(upstream)/notifications/hub;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection upgrade;
                  }
                }
                """
        }
        return """
            daemon on; user root; worker_processes 1; pid \(folder)/pid;
            events { worker_connections 256; }
            http {
              access_log \(folder)/access.log; client_max_body_size 0; proxy_http_version 1.1;
              client_body_temp_path \(folder)/a; proxy_temp_path \(folder)/b;
              fastcgi_temp_path \(folder)/c; uwsgi_temp_path \(folder)/d;
              scgi_temp_path \(folder)/e;
              \(servers.joined(separator: "\n"))
            }
            """
    }
}
