import Glibc
import System
import Testing

@testable import HTTP

@Suite struct ClientStormTests {
    /// Half are cancelled, a sixth has no time, the rest is answered late: nothing is left over.
    @Test func `a storm passes without a trace`() async throws {
        let seed: UInt64 = 20_261_121
        let chance = SeededChance(seed: seed)
        let kinds = (0..<2_000).map { index in (index, delay: chance.number(in: 0..<80)) }
        try await withClient {
            $0.requestsPerHost = 256
        } against: { connection in
            while connection.request() != nil {
                var pause = pollfd()
                _ = poll(&pause, 0, 300)
                connection.respond(body: [1])
            }
        } _: { client, server in
            let before = sockets(to: server.port)
            let outcomes = await withTaskGroup { storm in
                for (index, delay) in kinds {
                    storm.addTask { await one(client, server.url, index % 6, delay) }
                }
                return await storm.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes.values.reduce(0, +) == 2_000, "seed \(seed)")
            #expect(
                outcomes.keys.allSatisfy { ["ok", "cancelled", "timed out"].contains($0) },
                "\(outcomes)"
            )
            #expect(outcomes["ok", default: 0] > 0, "\(outcomes)")
            #expect(outcomes["cancelled", default: 0] > 100, "\(outcomes)")
            #expect(outcomes["timed out", default: 0] > 100, "\(outcomes)")
            #expect(before == 0)
            await client.close()
            #expect(sockets(to: server.port) == 0)
        }
    }
}

/// 0 to 2 are cancelled after a while, 3 has too little time, the rest wait for their answer.
private func one(_ client: Client, _ url: String, _ kind: Int, _ delay: Int) async -> String {
    var request = Client.Request(.get, url)
    request.deadlines = Client.Deadlines()
    if kind == 3 { request.deadlines?.total = .milliseconds(50) }
    let sent = request
    return await withTaskGroup { tasks in
        tasks.addTask { await outcome(client, sent) }
        if kind < 3 {
            for _ in 0..<delay { await Task.yield() }
            tasks.cancelAll()
        }
        return await tasks.next() ?? "nothing"
    }
}

private func outcome(_ client: Client, _ request: Client.Request) async -> String {
    do {
        return try await client.send(request).status == .ok ? "ok" : "another status"
    } catch {
        switch error.reason {
        case .cancelled: return "cancelled"
        case .timedOut: return "timed out"
        default: return "\(error.reason)"
        }
    }
}

/// How many of this process's sockets lead to that port of the loopback.
func sockets(to port: Int) -> Int {
    (0..<4_096).count { descriptor in
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getpeername(Int32(descriptor), $0, &size)
            }
        }
        return code == 0 && Int(UInt16(bigEndian: address.sin_port)) == port
    }
}
