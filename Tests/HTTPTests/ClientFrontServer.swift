import Glibc
import System
import TestSupport
import Testing

/// An nginx that speaks TLS and HTTP/2 and, below `/through` and `/hub`, passes on to a scripted
/// server.
final class FrontServer: Sendable {
    let port: Int
    private let credentials: Credentials
    private let process: ChildProcess

    var authorityPath: String { credentials.authorityPath }

    /// Where nginx is; `nil` if this machine has none.
    static var program: String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"])
            .map { "\($0)/nginx" }
            .first { access($0, X_OK) == 0 }
    }

    init(before backend: ScriptedServer) throws {
        credentials = try Credentials(names: "IP:127.0.0.1")
        let (listener, port) = try listenOnLoopback()
        defer { close(listener) }
        self.port = port
        let folder = credentials.scratch.path
        let file = credentials.scratch.file("nginx.conf")
        let text = Self.configuration(credentials, port: port, backend: backend.port)
        try Files.replace(file, with: Array(text.utf8))
        // It takes over a socket that listens already, so it can be reached from the start.
        process = try ChildProcess(
            [try #require(Self.program), "-p", folder, "-c", file, "-e", folder + "/error.log"],
            environment: ["NGINX=3;"],
            passing: listener
        )
    }

    /// Its master lets in all signals while it waits, and takes its worker along.
    func stop() { process.end(by: SIGTERM) }

    private static func configuration(
        _ credentials: Credentials,
        port: Int,
        backend: Int
    ) -> String {
        let folder = credentials.scratch.path
        return """
            daemon off; user root; worker_processes 1; pid \(folder)/pid;
            events { worker_connections 512; }
            http {
              access_log off; client_max_body_size 0;
              client_body_temp_path \(folder)/a; proxy_temp_path \(folder)/b;
              fastcgi_temp_path \(folder)/c; uwsgi_temp_path \(folder)/d;
              scgi_temp_path \(folder)/e;
              ssl_certificate \(credentials.certificatePath);
              ssl_certificate_key \(credentials.keyPath);
              proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off;
              server {
                listen 127.0.0.1:\(port) ssl http2;
                location / { return 200 "$server_protocol $connection"; }
                location /through { proxy_pass http://127.0.0.1:\(backend); }
                location /hub {
                  proxy_pass http://127.0.0.1:\(backend);
                  proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
                }
              }
            }
            """
    }
}

/// Runs a test against an nginx, with a scripted server behind it.
func withFront(
    script: @escaping @Sendable (ScriptedConnection) -> Void = { $0.waitForEnd() },
    _ body: (FrontServer) async throws -> Void
) async throws {
    let backend = try ScriptedServer(script)
    let front = try FrontServer(before: backend)
    do {
        try await body(front)
    } catch {
        Issue.record("\(error)")
    }
    front.stop()
    backend.stop()
}
