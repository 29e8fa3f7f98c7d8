import EmbeddedUpstream
import FoundationEssentials
import HTTP
import JSON
import System

/// What the embedded upstream carries: small calls beside a static answer of nginx, both driven by
/// wrk, and the memory of a great many accounts.
enum EmbeddedUpstreamBenchmarks {
    static func run(_ bench: Bench) async throws {
        guard let wrk = Tool.find("wrk"),
            let nginx = try StaticServer(String(repeating: "x", count: 256))
        else {
            bench.note("SKIPPED: wrk and nginx are needed, and one is missing", "–")
            return
        }
        try await calls(bench, Load(wrk: wrk, seconds: bench.isQuick ? 1 : 2), nginx)
        withExtendedLifetime(nginx) {}
        try await accounts(bench)
    }

    private static let leastRate = 3_000.0

    private static func calls(_ bench: Bench, _ load: Load, _ nginx: StaticServer) async throws {
        let upstream = try await EmbeddedUpstream.start(.init(.vaultwarden))
        let resident = try await Resident("bench@example.com", at: upstream)
        let item = try await resident.store()
        let script = try LoadScript(
            method: "PUT",
            token: resident.token,
            body: String(decoding: Resident.item, as: UTF8.self)
        )
        let bearer = "-H 'Authorization: Bearer \(resident.token)'"
        var slowest = Double.infinity
        let calls = [
            ("configuration", "", "/api/config"),
            ("revision date", bearer, "/api/accounts/revision-date"),
            ("reading an item", bearer, "/api/ciphers/\(item)"),
            ("writing an item", "-s \(script.path)", "/api/ciphers/\(item)"),
        ]
        for (name, options, path) in bench.isQuick ? calls.prefix(1) + calls.suffix(1) : calls[...]
        {
            var rates: [Double] = []
            try await bench.compare(
                "\(name), 64 connections; ceiling nginx, static",
                .rate("calls/s"),
                ours: {
                    rates.append(try load.drive(options + " " + upstream.url + path, 64).rate)
                    return rates.last ?? 0
                },
                ceiling: { try load.drive(nginx.url, 64).rate }
            )
            slowest = min(slowest, rates.median)
        }
        bench.note(
            "  the slowest of them",
            verdict(slowest, "calls/s", slowest >= leastRate, "≥ 3,000")
        )
        await upstream.stop(within: .seconds(1))
    }

    private static func accounts(_ bench: Bench) async throws {
        let count = bench.count(10_000, quick: 200)
        let upstream = try await EmbeddedUpstream.start(.init(.vaultwarden, address: nil))
        let before = residentMegabytes()
        for number in 0..<count {
            let resident = try await Resident("user\(number)@example.com", at: upstream)
            for _ in 0..<10 { _ = try await resident.store() }
        }
        let memory = residentMegabytes() - before
        bench.note(
            "memory of \(count) accounts, ten items each",
            verdict(memory, "MB", memory <= 2_048, "≤ 2,048")
        )
        await upstream.stop(within: .zero)
    }

    private static func verdict(
        _ figure: Double,
        _ unit: String,
        _ isMet: Bool,
        _ aim: String
    ) -> String {
        "\(Int(figure)) \(unit)  \(aim) \(isMet ? "met" : "MISSED")"
    }
}

/// Somebody with an account at the server, reached without a socket.
struct Resident {
    let token: String
    private let transport: MemoryTransport

    init(_ email: String, at upstream: EmbeddedUpstream) async throws {
        transport = MemoryTransport(handler: upstream.handler)
        let registration = """
            {"email":"\(email)","masterPasswordHash":"\(String(repeating: "h", count: 44))",\
            "key":"\(Self.sealed(180))","kdf":0,"kdfIterations":600000,"keys":{\
            "publicKey":"\(String(repeating: "p", count: 392))",\
            "encryptedPrivateKey":"\(Self.sealed(1_700))"}}
            """
        _ = try await transport.send(.post, "/identity/accounts/register", body: registration)
        let form = """
            grant_type=password&username=\(email)&password=\(String(repeating: "h", count: 44))\
            &scope=api+offline_access&client_id=cli&deviceType=8&deviceIdentifier=d&deviceName=n
            """
        let answer = try await transport.send(.post, "/identity/connect/token", body: form)
        guard let token = try JSON.Document(answer.body).root["access_token"]?.string else {
            throw UsageError(description: "Nobody can log in: \(answer.text)")
        }
        self.token = token
    }

    /// - Returns: The new item's id.
    func store() async throws -> String {
        let headers: Headers = ["Authorization": "Bearer \(token)"]
        let answer = try await transport.send(
            .post,
            "/api/ciphers",
            headers: headers,
            body: Self.item
        )
        guard let id = try JSON.Document(answer.body).root["id"]?.string else {
            throw UsageError(description: "Nothing can be stored: \(answer.text)")
        }
        return id
    }

    func userID() async throws -> String {
        let headers: Headers = ["Authorization": "Bearer \(token)"]
        let answer = try await transport.send(.get, "/api/accounts/profile", headers: headers)
        guard let id = try JSON.Document(answer.body).root["id"]?.string else {
            throw UsageError(description: "There is no profile: \(answer.text)")
        }
        return id
    }

    /// As much as a usual login holds.
    static let item = Array(
        """
        {"type":1,"name":"\(sealed(96))","notes":"\(sealed(220))","login":{\
        "username":"\(sealed(116))","password":"\(sealed(116))",\
        "uris":[{"uri":"\(sealed(116))","match":null}]}}
        """.utf8
    )

    /// What looks encrypted, and has that length.
    private static func sealed(_ length: Int) -> String {
        let mac = "|" + String(repeating: "M", count: 43) + "="
        let head = "2." + String(repeating: "I", count: 22) + "==|"
        return head + String(repeating: "C", count: max(4, length - head.count - mac.count)) + mac
    }
}

/// What wrk is to send, in a file that goes away with it.
private final class LoadScript {
    let path = FileManager.default.temporaryDirectory.path + "/holdfast-\(UUID().uuidString).lua"

    init(method: String, token: String, body: String) throws {
        let text = """
            wrk.method = "\(method)"
            wrk.headers["Authorization"] = "Bearer \(token)"
            wrk.headers["Content-Type"] = "application/json"
            wrk.body = [[\(body)]]
            """
        try Files.replace(path, with: Array(text.utf8))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
