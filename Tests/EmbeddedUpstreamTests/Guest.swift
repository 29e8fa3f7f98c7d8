import HTTP
import JSON
import System

@testable import EmbeddedUpstream

/// A server of ours, a user of it, and time at a standstill.
struct Guest {
    let upstream: EmbeddedUpstream
    let clock: RecordedClock
    let transport: MemoryTransport
    var token = ""
    var refreshToken = ""
    let email: String

    init(_ personality: Personality, seed: UInt64 = 7) async throws {
        clock = RecordedClock()
        upstream = try await EmbeddedUpstream.start(
            EmbeddedUpstream.Settings(personality, address: nil),
            time: clock,
            chance: SeededChance(seed: seed)
        )
        transport = MemoryTransport(handler: upstream.handler)
        email = "guest@example.com"
        try await register(email)
        try await logIn()
    }

    /// With a server that is there already.
    init(at upstream: EmbeddedUpstream) async throws {
        self.init(at: upstream, email: "guest@example.com")
        try await register(email)
        try await logIn()
    }

    private init(at upstream: EmbeddedUpstream, email: String) {
        clock = RecordedClock()
        self.upstream = upstream
        transport = MemoryTransport(handler: upstream.handler)
        self.email = email
    }

    /// The same user with another server.
    func moved(to upstream: EmbeddedUpstream) -> Guest {
        var guest = Guest(at: upstream, email: email)
        guest.token = token
        guest.refreshToken = refreshToken
        return guest
    }

    mutating func renew() async throws {
        let form = "grant_type=refresh_token&refresh_token=\(refreshToken)"
        let answer = try await ask(.post, "/identity/connect/token", form)
        guard let token = answer.json["access_token"]?.string else { throw Unexpected(answer) }
        self.token = token
    }

    /// Another device of the same user, or another user of the same server.
    func friend(_ email: String? = nil, device: String = "friend") async throws -> Guest {
        var friend = Guest(of: self, email: email ?? self.email)
        if let email { try await friend.register(email) }
        try await friend.logIn(device: device)
        return friend
    }

    private init(of guest: Guest, email: String) {
        upstream = guest.upstream
        clock = guest.clock
        transport = guest.transport
        self.email = email
    }

    func register(_ email: String) async throws {
        let body = """
            {"email":"\(email)","masterPasswordHash":"hash","key":"2.a|b|c","kdf":0,
            "kdfIterations":5000,"keys":{"publicKey":"p","encryptedPrivateKey":"2.d|e|f"}}
            """
        let answer = try await transport.send(
            .post,
            "/identity/accounts/register/finish",
            body: body
        )
        guard answer.status == .ok else { throw Unexpected(answer) }
    }

    mutating func logIn(
        device: String = "device",
        hash: String = "hash",
        more: String = ""
    ) async throws {
        let answer = try await ask(
            .post,
            "/identity/connect/token",
            "grant_type=password&username=\(email)&password=\(hash)&scope=api+offline_access"
                + "&client_id=cli&deviceType=8&deviceIdentifier=\(device)&deviceName=n" + more
        )
        token = answer.json["access_token"]?.string ?? ""
        refreshToken = answer.json["refresh_token"]?.string ?? ""
        guard answer.status == .ok else { throw Unexpected(answer) }
    }

    func ask(
        _ method: HTTP.Method,
        _ path: String,
        _ body: String = "",
        version: String? = "2026.7.0"
    ) async throws -> Answer {
        var headers: Headers = ["Authorization": "Bearer " + token]
        headers["Bitwarden-Client-Version"] = version
        return try await transport.send(method, path, headers: headers, body: Array(body.utf8))
    }

    /// A new login with that name.
    func make(_ name: String = sealed, more: String = "") async throws -> String {
        let answer = try await ask(.post, "/api/ciphers", Self.login(name, more: more))
        guard answer.status == .ok, let id = answer.json["id"]?.string else {
            throw Unexpected(answer)
        }
        return id
    }

    static func login(_ name: String = sealed, more: String = "") -> String {
        #"{"type":1,"name":"\#(name)","login":{"username":"\#(sealed)","extra":1}\#(more)}"#
    }

    /// Something that looks encrypted.
    static let sealed = "2.AAAAAAAAAAAAAAAAAAAAAA==|AAAAAAAAAAAAAAAAAAAAAA==|AAAA"

    /// Sends a file in two steps.
    ///
    /// - Returns: Its id.
    func attach(_ content: String, to id: String, announced: Int? = nil) async throws -> String {
        let size = announced ?? content.utf8.count
        let wish = #"{"key":"\#(Self.sealed)","fileName":"\#(Self.sealed)","fileSize":\#(size)}"#
        let upload = try await ask(.post, "/api/ciphers/\(id)/attachment/v2", wish)
        guard let file = upload.json["attachmentId"]?.string else { throw Unexpected(upload) }
        let body = """
            --cut\r\nContent-Disposition: form-data; name="data"; filename="f"\r\n\r\n\(content)\r
            --cut--\r

            """
        let answer = try await transport.send(
            .post,
            "/api/ciphers/\(id)/attachment/\(file)",
            headers: [
                "Authorization": "Bearer " + token,
                "Content-Type": "multipart/form-data; boundary=cut",
            ],
            body: body
        )
        guard answer.status == .ok else { throw Unexpected(answer) }
        return file
    }

    func download(_ file: String, of id: String) async throws -> String {
        let answer = try await ask(.get, "/api/ciphers/\(id)/attachment/\(file)")
        guard let url = answer.json["url"]?.string, url.hasPrefix("http://localhost/") else {
            throw Unexpected(answer)
        }
        let path = String(url.dropFirst("http://localhost".count))
        return try await transport.send(.get, path).text
    }

    func revisionDate() async throws -> Int {
        try await ask(.get, "/api/accounts/revision-date").json.int ?? 0
    }

    func cipher(_ id: String) async throws -> JSON.Value {
        try await ask(.get, "/api/ciphers/\(id)/details").json
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ answer: Answer) {
        description = "\(answer.status): \(answer.text)"
    }
}

extension Answer {
    /// Null, where the body is none.
    var json: JSON.Value {
        (try? JSON.Document(body))?.root ?? (try! JSON.Document(Array("null".utf8))).root
    }

    var message: String? { json["message"]?.string }
}
