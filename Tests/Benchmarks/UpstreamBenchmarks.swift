import Bitwarden
import CCeilings
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
        try await UpstreamSyncBenchmarks.run(bench)
    }

    /// A client with all that belongs to it, for as long as the body lasts.
    static func withAccount(
        _ url: String,
        _ body: (UpstreamAccount, Client) async throws -> Void
    ) async throws {
        let client = try Client()
        let sockets = try WebSocketClient()
        let upstream = try upstream(at: url, client, sockets)
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

    static func upstream(
        at url: String,
        _ client: Client,
        _ sockets: WebSocketClient
    ) throws -> Upstream {
        let time = SystemTimekeeper()
        return Upstream(
            try Bases(url),
            identity: ClientIdentity(device: Device(type: 25, identifier: "bench", name: "bench")),
            world: .init(
                network: RealNetwork(client: client, sockets: sockets),
                timekeeper: time,
                chance: SystemChance()
            ),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
    }

    private static func calls(
        _ bench: Bench,
        _ nginx: StaticServer,
        _ concurrency: Int
    ) async throws {
        let count = Int32(bench.count(concurrency == 1 ? 8_000 : 30_000, quick: 200))
        let url = nginx.url + "api/accounts/revision-date"
        for place in HTTPClientBenchmarks.Place.allCases {
            var cost = Cost()
            try await withAccount(nginx.url) { account, client in
                try await bench.compare(
                    "\(concurrency) at once, \(place.rawValue); libcurl in C",
                    .rate("req/s"),
                    aim: concurrency == 1 ? nil : 0.7,
                    ours: {
                        try await cost.ours.rate(of: Int(count)) {
                            let executor = place == .thread ? client.executor : nil
                            try await ask(account, executor, Int(count), concurrency)
                        }
                    },
                    ceiling: {
                        try await cost.ceiling.rate(of: Int(count)) {
                            let failures = ceiling_curl_loop(url, lines, count, Int32(concurrency))
                            guard failures == 0 else {
                                throw UsageError(description: "The ceiling's requests failed.")
                            }
                        }
                    }
                )
            }
            bench.note("  CPU", "\(cost.ours.median) / \(cost.ceiling.median) µs/req")
        }
    }

    /// What the protocol wants to be said; the ceiling says the same.
    private static let lines = """
        Accept: application/json
        Bitwarden-Client-Name: cli
        Bitwarden-Client-Version: 2026.7.0
        Device-Type: 25
        Device-Identifier: bench
        Cache-Control: no-store
        Pragma: no-cache
        Authorization: Bearer token
        """

    private static func ask(
        _ account: UpstreamAccount,
        _ executor: (any TaskExecutor)?,
        _ count: Int,
        _ concurrency: Int
    ) async throws {
        try await withThrowingTaskGroup { callers in
            for caller in 0..<concurrency {
                let share = (count + caller) / concurrency
                callers.addTask(executorPreference: executor) {
                    try await Self.ask(account, times: share)
                }
            }
            try await callers.waitForAll()
        }
    }

    @concurrent
    private static func ask(_ account: UpstreamAccount, times: Int) async throws {
        for _ in 0..<times { _ = try await account.revision() }
    }
}
