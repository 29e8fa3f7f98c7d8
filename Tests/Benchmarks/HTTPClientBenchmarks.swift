import CCeilings
import FoundationEssentials
import Glibc
import HTTP
import System

/// The HTTP client beside the same libcurl loop in C, both against nginx with an answer of 1 KB.
enum HTTPClientBenchmarks {
    static func run(_ bench: Bench) async throws {
        guard let nginx = try StaticServer() else {
            bench.note("SKIPPED", "no nginx (Debian package nginx)")
            return
        }
        defer { withExtendedLifetime(nginx) {} }
        let client = try Client()
        for concurrency in [1, 16, 64] {
            try await compare(bench, client, nginx.url, concurrency)
        }
        await client.close()
    }

    private static func compare(
        _ bench: Bench,
        _ client: Client,
        _ url: String,
        _ concurrency: Int
    ) async throws {
        let count = bench.count(concurrency == 1 ? 8_000 : 30_000, quick: 200)
        var cost = Cost()
        for place in Place.allCases {
            try await bench.compare(
                "\(concurrency) at once, \(place.rawValue)",
                .rate("req/s"),
                aim: 0.8,
                ours: {
                    try await cost.ours.rate(of: count) {
                        try await place.run(client, url, count, concurrency)
                    }
                },
                ceiling: {
                    try await cost.ceiling.rate(of: count) {
                        guard ceiling_curl_loop(url, "", Int32(count), Int32(concurrency)) == 0
                        else {
                            throw UsageError(description: "The ceiling's requests failed.")
                        }
                    }
                }
            )
            bench.note("  CPU", "\(cost.ours.median) / \(cost.ceiling.median) µs/req")
            cost = Cost()
        }
    }

    /// Where the tasks run that send the requests.
    enum Place: String, CaseIterable {
        case pool = "from the pool"
        case thread = "on its thread"

        fileprivate func run(_ client: Client, _ url: String, _ count: Int, _ concurrency: Int)
            async throws
        {
            let executor: (any TaskExecutor)? = self == .thread ? client.executor : nil
            try await withThrowingTaskGroup { tasks in
                for worker in 0..<concurrency {
                    let share = (count + worker) / concurrency
                    tasks.addTask(executorPreference: executor) {
                        try await Self.get(client, url, times: share)
                    }
                }
                try await tasks.waitForAll()
            }
        }

        @concurrent
        private static func get(_ client: Client, _ url: String, times: Int) async throws {
            for _ in 0..<times {
                let response = try await client.send(Client.Request(.get, url))
                guard response.status == .ok, response.body.count == 1_024 else {
                    throw UsageError(description: "Unexpected answer \(response.status).")
                }
            }
        }
    }
}

/// What requests cost the processor, ours and the ceiling's.
struct Cost {
    var ours = Side()
    var ceiling = Side()

    struct Side {
        var microseconds: [Double] = []
        var median: Int { Int(microseconds.median.rounded()) }

        mutating func rate(of count: Int, _ body: () async throws -> Void) async throws
            -> Double
        {
            let before = processMicroseconds()
            let seconds = try await seconds(body)
            microseconds.append((processMicroseconds() - before) / Double(count))
            return Double(count) / seconds
        }
    }
}

/// User and system time of this process.
private func processMicroseconds() -> Double {
    var usage = rusage()
    getrusage(0, &usage)
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    return Double(seconds) * 1e6 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
}

/// An nginx of its own, on a free port of the loopback: the same small text everywhere, and a file.
final class StaticServer {
    let url: String
    private let process: pid_t
    private let folder: String

    /// The file that is answered at `/api/sync`.
    var syncPath: String { folder + "/sync.json" }

    /// - Parameters:
    ///   - text: What is answered everywhere but at `/api/sync`, where a file is.
    init?(
        _ text: String = String(repeating: "x", count: 1_024),
        type: String = "text/plain",
        file: [UInt8] = []
    ) throws {
        guard let program = Self.program else { return nil }
        folder = FileManager.default.temporaryDirectory.path + "/holdfast-" + UUID().uuidString
        try Files.makePrivateDirectory(folder)
        let (listener, port) = try listen()
        url = "http://127.0.0.1:\(port)/"
        try Files.replace(folder + "/sync.json", with: file, mode: 0o644)
        let path = folder + "/nginx.conf"
        let configuration = Self.configuration(folder, port, text, type)
        try Files.replace(path, with: Array(configuration.utf8))
        process = try spawn([program, "-p", folder, "-c", path], passing: listener)
        close(listener)
    }

    private static var program: String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"])
            .map { "\($0)/nginx" }
            .first { access($0, X_OK) == 0 }
    }

    private static func configuration(
        _ folder: String,
        _ port: Int,
        _ text: String,
        _ type: String
    ) -> String {
        """
        daemon off; user root; worker_processes 1; pid \(folder)/pid; error_log \(folder)/error.log;
        events { worker_connections 1024; }
        http {
            access_log off; keepalive_requests 100000000;
            client_body_temp_path \(folder)/b; proxy_temp_path \(folder)/p;
            fastcgi_temp_path \(folder)/f; uwsgi_temp_path \(folder)/u; scgi_temp_path \(folder)/s;
            server {
                listen 127.0.0.1:\(port);
                default_type \(type);
                location / { return 200 "\(text)"; }
                location = /api/sync { alias \(folder)/sync.json; }
            }
        }
        """
    }

    deinit {
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// A listening socket on the loopback. nginx inherits it, so it can be reached from the start.
private func listen() throws -> (descriptor: Int32, port: Int) {
    let listener = try system("socket") { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            try system("bind") { bind(listener, pointer, size) }
            try system("listen") { Glibc.listen(listener, 128) }
            try system("getsockname") { getsockname(listener, pointer, &size) }
        }
    }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
}

private func spawn(_ arguments: [String], passing listener: Int32) throws -> pid_t {
    var process = pid_t()
    var words = arguments.map { strdup($0) } + [nil]
    var environment = [strdup("NGINX=\(listener);"), nil]
    defer { for word in words + environment { free(word) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Nothing else of ours is to live on in there, should we end before it does.
    for descriptor in Int32(3)..<256 where descriptor != listener {
        posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    let code = posix_spawn(&process, arguments[0], &actions, nil, &words, &environment)
    guard code == 0 else { throw SystemError("spawn \(arguments[0])", code: code) }
    return process
}
