import TestSupport
import Testing

@testable import HTTP

/// An authority of the test's own, and a certificate that it vouches for.
struct Credentials: Sendable {
    let scratch: Scratch

    var authorityPath: String { scratch.file("ca.pem") }
    var certificatePath: String { scratch.file("cert.pem") }
    var keyPath: String { scratch.file("key.pem") }

    /// - Parameter names: What the certificate is good for, as `DNS:…,IP:…`.
    init(names: String) throws {
        scratch = try Scratch()
        let status = try shell(
            """
            cd '\(scratch.path)' && openssl req -x509 -newkey ec \
            -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -keyout ca.key -out ca.pem -days 2 -subj /CN=authority && \
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
            -out request.pem -subj /CN=server && echo 'subjectAltName=\(names)' > ext && \
            openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial \
            -days 2 -extfile ext -out cert.pem
            """
        )
        try #require(status == 0, "openssl makes the certificates")
    }
}

/// A TLS server that says little.
final class TrustedServer: Sendable {
    let port: Int
    private let credentials: Credentials
    private let process: ChildProcess

    var authorityPath: String { credentials.authorityPath }

    init(names: String) throws {
        credentials = try Credentials(names: names)
        process = try ChildProcess([
            "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0",
            "-cert", credentials.certificatePath, "-key", credentials.keyPath, "-www",
        ])
        var port: Int?
        while port == nil, let line = process.line() {
            guard line.hasPrefix("ACCEPT") else { continue }
            port = line.split(separator: ":").last.flatMap { Int($0) }
        }
        self.port = try #require(port, "openssl s_server says where it listens")
    }

    func stop() { process.end() }
}

@Suite(.serialized) struct ClientTrustTests {
    @Test func `a server is trusted with the extra authority and only with it`() async throws {
        let server = try TrustedServer(names: "IP:127.0.0.1,DNS:vault.test")
        let url = "https://127.0.0.1:\(server.port)/"

        let stranger = try Client()
        let error = await failure { () throws(ClientError) in
            try await stranger.send(Client.Request(.get, url))
        }
        guard case .untrusted(let text) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("certificate"))
        #expect(error?.progress.sent == .nothing)
        await stranger.close()

        var configuration = Client.Configuration()
        configuration.extraAuthoritiesPath = server.authorityPath
        let friend = try Client(configuration: configuration)
        #expect(try await friend.send(Client.Request(.get, url)).status == .ok)
        await friend.close()
        server.stop()
    }

    @Test func `a certificate for another name is not trusted`() async throws {
        let server = try TrustedServer(names: "DNS:other.test")
        var configuration = Client.Configuration()
        configuration.extraAuthoritiesPath = server.authorityPath
        let client = try Client(configuration: configuration)
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "https://127.0.0.1:\(server.port)/"))
        }
        guard case .untrusted = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        await client.close()
        server.stop()
    }

    @Test func `a file without certificates is refused at the start`() throws {
        var configuration = Client.Configuration()
        configuration.extraAuthoritiesPath = "/dev/null"
        #expect(throws: ClientError.self) { try Client(configuration: configuration) }
        var sockets = WebSocketClient.Configuration()
        sockets.extraAuthoritiesPath = "/dev/null"
        #expect(throws: WebSocketError.self) { try WebSocketClient(configuration: sockets) }
    }

    /// s_server knows no WebSockets: with trust, the refusal comes from HTTP and no more from TLS.
    @Test(arguments: [
        ("IP:127.0.0.1", true, WebSocketError.Reason.refused(.ok)),
        ("IP:127.0.0.1", false, .untrusted("unable to get local issuer certificate")),
        ("DNS:other.test", true, .untrusted("hostname mismatch")),
    ])
    func `a WebSocket trusts whom the client trusts`(
        _ names: String,
        _ isKnown: Bool,
        _ expected: WebSocketError.Reason
    ) async throws {
        let server = try TrustedServer(names: names)
        var configuration = WebSocketClient.Configuration()
        if isKnown { configuration.extraAuthoritiesPath = server.authorityPath }
        let client = try WebSocketClient(configuration: configuration)
        var reason: WebSocketError.Reason?
        do {
            _ = try await client.connect("wss://127.0.0.1:\(server.port)/hub")
        } catch {
            reason = error.reason
        }
        switch (reason, expected) {
        case (.untrusted, .untrusted): break
        default: #expect(reason == expected)
        }
        await client.close()
        server.stop()
    }
}
