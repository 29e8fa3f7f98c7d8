import FoundationEssentials
import Glibc
import HTTP
import System

/// Our server beside nginx, both driven by wrk: a small JSON answer, ours from an actor that an
/// asynchronous handler asks.
enum HTTPServerBenchmarks {
    static func run(_ bench: Bench) async throws {
        guard let wrk = Tool.find("wrk"), let nginx = Tool.find("nginx") else {
            bench.note("SKIPPED: wrk and nginx are needed, and one is missing", "–")
            return
        }
        let rival = try Nginx(nginx)
        defer { rival.stop() }
        let counter = Counter()
        var router = Router()
        router.on(.get, "/status") { _ in
            Response(
                headers: ["Content-Type": "application/json"],
                body: .bytes(await counter.next())
            )
        }
        let server = try Server.start(
            [Listener(name: "bench", .tcp(SocketAddress(host: "127.0.0.1", port: 0)))],
            handler: router.respond
        )
        guard case .tcp(let address) = server.listeners[0].address else { return }
        let load = Load(wrk: wrk, seconds: bench.isQuick ? 1 : 2)
        for connections in bench.isQuick ? [64] : [1, 16, 64, 128, 512] {
            try await compare(bench, load, connections, address, rival)
        }
        try restingConnections(bench, server, address)
        await server.stop(within: .seconds(1))
    }

    private static func compare(
        _ bench: Bench,
        _ load: Load,
        _ connections: Int,
        _ address: SocketAddress,
        _ rival: Nginx
    ) async throws {
        var costs: (ours: [Double], theirs: [Double]) = ([], [])
        try await bench.compare(
            "\(connections) connections",
            .rate("req/s"),
            aim: connections == 64 ? 0.5 : nil,
            ours: {
                let before = processSeconds()
                let result = try load.drive("http://\(address)/status", connections)
                costs.ours.append((processSeconds() - before) / Double(result.requests) * 1e6)
                return result.rate
            },
            ceiling: {
                let before = rival.processSeconds()
                let result = try load.drive("http://127.0.0.1:\(rival.port)/status", connections)
                costs.theirs.append(
                    (rival.processSeconds() - before) / Double(result.requests) * 1e6
                )
                return result.rate
            }
        )
        let text = "\(rounded(costs.ours.median)) µs, nginx \(rounded(costs.theirs.median)) µs"
        bench.note("  processor time for each request", text)
    }

    private static func restingConnections(
        _ bench: Bench,
        _ server: Server,
        _ address: SocketAddress
    ) throws {
        let count = bench.count(1_000, quick: 100)
        let before = residentKilobytes()
        let sockets = (0..<count).compactMap { _ in Visitor(address) }
        for socket in sockets { socket.askOnce() }
        let each = Double(residentKilobytes() - before) / Double(count)
        bench.note("memory for a connection at rest (\(sockets.count))", "\(rounded(each)) KB")
        for socket in sockets { socket.leave() }
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

/// Sixty-three bytes, made anew for each request.
private actor Counter {
    private var count = 0

    func next() -> [UInt8] {
        count &+= 1
        let number = String(count % 1_000_000 + 1_000_000)
        return Array(
            #"{"object":"status","status":"unlocked","serial":0000000,"x":12}"#.utf8.prefix(48)
        ) + Array(number.utf8) + Array(#","x":12}"#.utf8)
    }
}

struct Load {
    struct Result {
        let rate: Double
        let requests: Int
    }

    let wrk: String
    let seconds: Int

    func drive(_ url: String, _ connections: Int) throws -> Result {
        let text = try Tool.output("\(wrk) -t1 -c\(connections) -d\(seconds)s \(url) 2>&1")
        let lines = text.split(separator: "\n")
        let rate = lines.first { $0.contains("Requests/sec:") }
            .flatMap { Double($0.split(separator: " ").last ?? "") }
        let requests = lines.first { $0.contains(" requests in ") }
            .flatMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        guard let rate, let requests, requests > 0, !text.contains("Non-2xx") else {
            throw UsageError(description: "wrk says: \(text)")
        }
        return Result(rate: rate, requests: requests)
    }
}

enum Tool {
    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"])
            .map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    static func output(_ command: String) throws -> String {
        guard let pipe = popen(command, "r") else { throw SystemError("popen", code: errno) }
        defer { pclose(pipe) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}

/// An nginx of our own: one worker, a free port, a directory that goes away with it.
private final class Nginx {
    let port: Int
    private let process: pid_t
    private let directory: String

    init(_ path: String) throws {
        port = try Self.freePort()
        directory = "/tmp/holdfast-nginx-\(getpid())"
        try Files.makePrivateDirectory(directory)
        let file = "\(directory)/nginx.conf"
        try Files.replace(file, with: Array(Self.configuration(port, directory).utf8))
        let words = [path, "-p", directory, "-c", file, "-e", "\(directory)/error.log"]
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, path, nil, nil, &arguments, environ)
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        process = started
        for _ in 0..<200 where Visitor(SocketAddress(host: "127.0.0.1", port: port)) == nil {
            _ = poll(nil, 0, 10)  // nginx tells nobody when it listens.
        }
    }

    func processSeconds() -> Double {
        let text = (try? Files.read("/proc/\(process)/stat")).map {
            String(decoding: $0, as: UTF8.self)
        }
        let fields = (text ?? "").split(separator: " ")
        guard fields.count > 14, let user = Double(fields[13]), let system = Double(fields[14])
        else {
            return .nan
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    func stop() {
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func configuration(_ port: Int, _ directory: String) -> String {
        """
        daemon off; master_process off; worker_processes 1; pid \(directory)/pid;
        events { worker_connections 2048; }
        http {
          access_log off; keepalive_requests 1000000000; default_type application/json;
          client_body_temp_path \(directory)/a; proxy_temp_path \(directory)/b;
          fastcgi_temp_path \(directory)/c; uwsgi_temp_path \(directory)/d; scgi_temp_path \(directory)/e;
          server {
            listen 127.0.0.1:\(port) backlog=1024;
            location / { return 200 '{"object":"status","status":"unlocked","serial":0000000,"x":12}'; }
          }
        }
        """
    }

    private static func freePort() throws -> Int {
        let server = try Server.start(
            [Listener(name: "port", .tcp(SocketAddress(host: "127.0.0.1", port: 0)))],
            handler: { _ in Response() }
        )
        guard case .tcp(let address) = server.listeners[0].address else { return 0 }
        return runBlockingStop(server, address.port)
    }

    private static func runBlockingStop(_ server: Server, _ port: Int) -> Int {
        _ = runBlocking { await server.stop(within: .zero) }
        return port
    }
}

/// A connection that asks once and then rests.
private final class Visitor {
    private let descriptor: Int32

    init?(_ address: SocketAddress) {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(address.port).bigEndian
        place.sin_addr.s_addr = inet_addr(address.host)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let code = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            close(descriptor)
            return nil
        }
    }

    func askOnce() {
        let text = Array("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: 1_024)
        _ = send(descriptor, text, text.count, 0)
        _ = recv(descriptor, &buffer, buffer.count, 0)
    }

    func leave() { close(descriptor) }
}

private func processSeconds() -> Double {
    var usage = rusage()
    getrusage(0, &usage)  // RUSAGE_SELF, which is imported with another type.
    let micros = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(micros) / 1e6
}

private func residentKilobytes() -> Int {
    let text = (try? Files.read("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) }
    return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
}
