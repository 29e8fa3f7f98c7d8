import Glibc
import System
import Testing

@testable import HTTP

/// Many clients, most of them rude.
@Suite(.serialized) struct ServerAbuseTests {
    private static let handler: Handler = { request in
        switch request.target.segments.first {
        case "events":
            return .events { stream in while true { try await stream.send(Event("tick")) } }
        case "slow":
            await untilCancelled()
            return .text("never")
        case "big": return Response(body: .bytes([UInt8](repeating: 7, count: 300_000)))
        default:
            return await countingBody(request, limit: 100_000)
        }
    }

    @Test(arguments: [128, 256, 512])
    func `so many ready connections do not make the server stall`(_ count: Int) async throws {
        try await serve({ _ in .text("ok") }) { server async throws in
            let clients = try (0..<count).map { _ in try server.client() }
            let start = ContinuousClock.now
            for _ in 0..<5 {
                for client in clients { try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
                for client in clients { #expect(try client.answer().text == "ok") }
            }
            #expect(ContinuousClock.now - start < .seconds(8))
        }
    }

    #if THREAD_SANITIZER
        /// In kilobytes. The sanitizer keeps books of its own, in the same memory.
        private static let growth = 40_000
    #elseif ADDRESS_SANITIZER
        /// This one holds back what was freed, up to a quarter of a gigabyte; it looks for leaks itself.
        private static let growth = 300_000
    #else
        private static let growth = 4_000
    #endif

    @Test func `two thousand clients that leave at random leave nothing behind`() async throws {
        let seed: UInt64 = 0x5EED
        let chance = SeededChance(seed: seed)
        let descriptors = openDescriptors()
        var limits = Limits()
        limits.halfClosedTime = .milliseconds(200)
        limits.lingerTime = .milliseconds(200)
        try await serve(Self.handler, limits: limits) { server async throws in
            var memory: [Int] = []
            for _ in 0..<4 {
                for _ in 0..<50 { try leaveAtRandom(server, chance, clients: 10) }
                _ = try server.ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                await server.loop.quiet()
                #expect(server.exchanges == 0, "seed \(seed)")
                memory.append(residentKilobytes())
            }
            let growth = (memory.last ?? 0) - memory[1]
            #expect(growth < Self.growth, "kilobytes over rounds: \(memory), seed \(seed)")
        }
        // The testing library and the runtime may open one of their own meanwhile.
        #expect(openDescriptors() <= descriptors + 4, "seed \(seed)")
    }

    private func leaveAtRandom(_ server: Server, _ chance: SeededChance, clients: Int) throws {
        let paths = ["/events", "/slow", "/big", "/"]
        let open = try (0..<clients).map { _ in try server.client() }
        for client in open {
            let path = paths[chance.number(in: 0..<paths.count)]
            let text =
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n01234567890123456789"
            client.trySend(Array(text.utf8.prefix(chance.number(in: 0..<text.utf8.count * 2))))
        }
        for client in open {
            if chance.number(in: 0..<3) == 0 { client.closeSending() }
            if chance.number(in: 0..<4) == 0 { _ = try? client.takeSome() }
            if chance.number(in: 0..<2) == 0 { client.reset() } else { client.close() }
        }
    }

    @Test func `random bytes are answered or refused, and the server lives`() async throws {
        let seed: UInt64 = 0xF00D
        let chance = SeededChance(seed: seed)
        let good =
            "POST /a?b=c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        try await serve(Self.handler) { server async throws in
            for round in 0..<300 {
                var bytes = Array(good.utf8)
                for _ in 0...chance.number(in: 0..<4) {
                    let place = chance.number(in: 0..<bytes.count)
                    switch chance.number(in: 0..<4) {
                    case 0: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
                    case 1: bytes.remove(at: place)
                    case 2: bytes.insert(UInt8(truncatingIfNeeded: chance.next()), at: place)
                    default: bytes.swapAt(place, chance.number(in: 0..<bytes.count))
                    }
                }
                let client = try server.client()
                client.trySend(bytes)
                client.closeSending()
                let answer = String(decoding: client.rest().prefix(9), as: UTF8.self)
                #expect(answer.isEmpty || answer == "HTTP/1.1 ", "round \(round), seed \(seed)")
            }
            #expect(try server.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").text == "0")
        }
    }

    @Test(.enabled(if: getenv("HOLDFAST_LONG") != nil))
    func `ten thousand connections may rest`() async throws {
        try raiseDescriptorLimit()
        var limits = Limits()
        limits.connections = 12_000
        try await serve({ _ in .text("ok") }, limits: limits) { server async throws in
            let before = residentKilobytes()
            var clients: [RawClient] = []
            for _ in 0..<min(10_000, try descriptorLimit() / 2 - 100) {
                let client = try server.client()
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.answer()
                clients.append(client)
            }
            print("\(clients.count) at rest: \(residentKilobytes() - before) KB more, both ends")
            #expect(server.connections == clients.count)
            for client in clients.reversed() {
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().text == "ok")
            }
        }
    }
}

extension RawClient {
    fileprivate func takeSome() throws -> [UInt8] { isSilent ? [] : try take(1) }
}

private func openDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

private func residentKilobytes() -> Int {
    let text = (try? Files.read("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) }
    let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * 4
}

private func descriptorLimit() throws -> Int {
    var limit = rlimit()
    try system("getrlimit") { getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) }
    return Int(clamping: limit.rlim_cur)
}

private func raiseDescriptorLimit() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // The clients' ends are in this process as well. Who may not ask for more than it has makes do
    // with that; how many connections it came to is printed.
    let permitted = limit.rlim_max
    for wanted in [max(permitted, 24_000), permitted] {
        (limit.rlim_cur, limit.rlim_max) = (wanted, wanted)
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 { return }
    }
    throw SystemError("setrlimit", code: errno)
}
