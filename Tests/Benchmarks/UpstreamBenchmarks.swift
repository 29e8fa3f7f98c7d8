import Bitwarden
import CCeilings
import FoundationEssentials
import Glibc
import HTTP
import Host
import Metrics
import System
import Vault

/// The upstream client beside bare libcurl, and how long a sync takes as vaults grow.
enum UpstreamBenchmarks {
    static func run(_ bench: Bench) async throws {
        // A kilobyte that says nothing, so that reading it costs what its length costs.
        let answer = String(repeating: " ", count: 1_020) + "null"
        guard let nginx = try StaticServer(answer, type: "application/json") else {
            bench.note("SKIPPED", "no /usr/sbin/nginx (Debian package nginx)")
            return
        }
        for concurrency in [1, 64] {
            try await calls(bench, nginx, concurrency)
        }
        withExtendedLifetime(nginx) {}
        for count in bench.isQuick ? [100, 200] : [1_000, 10_000, 100_000] {
            try await sync(bench, count)
        }
    }

    /// A client with all that belongs to it, for as long as the body lasts.
    private static func withAccount(
        _ url: String,
        _ body: (UpstreamAccount, Client) async throws -> Void
    ) async throws {
        let client = try Client()
        let sockets = try WebSocketClient()
        let time = SystemTimekeeper()
        let upstream = Upstream(
            try Bases(url),
            identity: ClientIdentity(device: Device(type: 25, identifier: "bench", name: "bench")),
            world: .init(
                network: RealNetwork(client: client, sockets: sockets),
                timekeeper: time,
                chance: SystemChance()
            ),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
        let tokens = Tokens(
            userID: SyncBody.id(0),
            access: "token",
            expires: Moment(ticks: .max / 2),
            renewal: .none
        )
        let session = upstream.session(tokens) { _ in }
        try await body(UpstreamAccount(upstream, session), client)
        await client.close()
        await sockets.close()
    }

    private static func calls(
        _ bench: Bench,
        _ nginx: StaticServer,
        _ concurrency: Int
    ) async throws {
        let count = bench.count(concurrency == 1 ? 8_000 : 30_000, quick: 200)
        try await withAccount(nginx.url) { account, client in
            try await bench.compare(
                "\(concurrency) at once; ceiling libcurl in C",
                .rate("req/s"),
                aim: concurrency == 1 ? nil : 0.7,
                ours: {
                    let time = try await seconds {
                        try await ask(account, client, count, concurrency)
                    }
                    return Double(count) / time
                },
                ceiling: {
                    let time = await seconds {
                        _ = ceiling_curl_loop(nginx.url, Int32(count), Int32(concurrency))
                    }
                    return Double(count) / time
                }
            )
        }
    }

    private static func ask(
        _ account: UpstreamAccount,
        _ client: Client,
        _ count: Int,
        _ concurrency: Int
    ) async throws {
        try await withThrowingTaskGroup { callers in
            for caller in 0..<concurrency {
                let share = (count + caller) / concurrency
                callers.addTask(executorPreference: client.executor) {
                    for _ in 0..<share { _ = try await account.revision() }
                }
            }
            try await callers.waitForAll()
        }
    }

    /// From the request to an answer that has been read and can be stored.
    private static func sync(_ bench: Bench, _ count: Int) async throws {
        guard
            let nginx = try StaticServer(
                "null",
                type: "application/json",
                file: syncBody(ciphers: count)
            )
        else { return }
        var peak = 0.0
        try await withAccount(nginx.url) { account, _ in
            try await bench.measure("sync of \(count) items", unit: "ms") {
                forgetPeak()
                let before = memory("VmRSS")
                let time = try await seconds {
                    let fetched = try await account.sync()
                    precondition(fetched.picture.ciphers?.count == count)
                }
                peak = memory("VmHWM") - before
                return time * 1_000
            }
        }
        bench.note("  at most", "\(Int(peak)) MB more")
        withExtendedLifetime(nginx) {}
    }

    /// Our usual body, with a profile that is whole.
    private static func syncBody(ciphers count: Int) -> [UInt8] {
        let text = "\"profile\":{"
        var body = SyncBody.bytes(ciphers: count)
        if let place = body.firstRange(of: Array(text.utf8)) {
            body.insert(
                contentsOf: Array("\"email\":\"a@example.com\",".utf8),
                at: place.upperBound
            )
        }
        return body
    }

    private static func forgetPeak() {
        guard let file = try? File(path: "/proc/self/clear_refs", flags: O_WRONLY) else { return }
        try? file.write([UInt8(ascii: "5")])
    }

    /// In megabytes.
    private static func memory(_ name: String) -> Double {
        let status = (try? Files.read("/proc/self/status")) ?? []
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(name + ":") }
        let kilobytes = line?.split(separator: " ").dropFirst().first
            .flatMap { Double($0.filter(\.isNumber)) }
        let fallback = line?.filter(\.isNumber).description
        return (kilobytes ?? Double(fallback ?? "") ?? 0) / 1_024
    }
}
