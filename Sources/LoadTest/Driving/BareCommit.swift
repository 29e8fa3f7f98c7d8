import HTTP
import JSON
import SQLite

/// A server that writes what it is sent to the disk, together with whoever comes at the same time,
/// and does nothing else: what no host can be faster than.
final class BareCommit: Sendable {
    let url: String
    private let server: Server
    private let database: Database

    static func open(_ path: String) async throws -> BareCommit {
        let database = try await Database.open(
            path,
            migrations: [
                Migration("edits") { (db) throws(DatabaseError) in
                    try db.execute("CREATE TABLE edit (id INTEGER PRIMARY KEY, body BLOB)")
                }
            ]
        )
        let listener = Listener(name: "bare", .tcp(SocketAddress(host: "127.0.0.1", port: 0)))
        let server = try Server.start([listener]) { request in
            await keep(request, in: database)
        }
        guard case .tcp(let address)? = server.listeners.first?.address else {
            throw LoadFailure("The bare server listens nowhere.")
        }
        return BareCommit(url: "http://\(address)", server: server, database: database)
    }

    private init(url: String, server: Server, database: Database) {
        self.url = url
        self.server = server
        self.database = database
    }

    private static func keep(_ request: Request, in database: Database) async -> Response {
        do {
            let body = try await request.body(limit: 1 << 20)
            try await database.execute("INSERT INTO edit (body) VALUES (?)", .blob(body))
            return Response(headers: ["Content-Type": "application/json"], body: .bytes(answer))
        } catch {
            return .text("\(error)", status: .internalError)
        }
    }

    /// As long as what the host answers to an edit.
    private static let answer = Array(
        JSON.Raw.object { answer in
            answer.add("success", true)
            answer.object("data") {
                $0.add("id", "00000000-0000-4000-8000-000000000000")
                $0.add("filling", String(repeating: "x", count: 700))
            }
        }.bytes
    )

    func close() async throws {
        await server.stop(within: .seconds(1))
        try await database.close()
    }
}
