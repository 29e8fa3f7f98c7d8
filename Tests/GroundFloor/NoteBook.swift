import FoundationEssentials
import HTTP
import Messaging
import Metrics
import SQLite
import System

/// A note book over HTTP: every room of the ground floor, wired together.
struct NoteBook: Sendable {
    let address: String
    let store: NoteStore
    private let server: Server
    private let database: Database
    private let watch: ChannelMetrics.Watch

    static func open(_ path: String, timekeeper: any Timekeeper) async throws -> NoteBook {
        let registry = Registry(timekeeper: timekeeper)
        registry.registerProcess()
        let commits = registry.register(
            .histogram(
                "holdfast_store_commit_rows",
                "Rows in one group commit.",
                bounds: [1, 4, 16, 64, 256]
            )
        )
        var configuration = Configuration()
        configuration.observer = Observer(timekeeper: timekeeper) { commits.observe($0.rows) }
        let database = try await Database.open(
            path,
            migrations: NoteStore.migrations,
            configuration: configuration
        )
        let store = NoteStore(database: database, capacity: 256)
        let channels = ChannelMetrics(
            registry,
            channels: [NoteStore.channel],
            timekeeper: timekeeper
        )
        let server = try Server.start(
            [Listener(name: "api", .tcp(SocketAddress(host: "127.0.0.1", port: 0)))],
            timekeeper: timekeeper,
            handler: routes(store.address, database, registry).respond
        )
        return NoteBook(
            address: try url(of: server),
            store: store,
            server: server,
            database: database,
            watch: channels.watch(store.address)
        )
    }

    private static func routes(
        _ store: Address<NoteStore.Message>,
        _ database: Database,
        _ registry: Registry
    ) -> Router {
        var router = Router()
        router.on(.post, "/notes") { await keep($0, in: store) }
        router.on(.get, "/notes/{id}", Int.self) { _, id in read(id, from: database) }
        router.on(.get, "/metrics") { request in
            let format = ExpositionFormat(accept: request.headers["Accept"])
            return Response(
                headers: ["Content-Type": format.contentType],
                body: .bytes(await registry.page(format))
            )
        }
        return router
    }

    /// A store that has more to do than it may is no reason to let the queue grow.
    private static func keep(
        _ request: Request,
        in store: Address<NoteStore.Message>
    ) async -> Response {
        do {
            let text = try await request.body(limit: 64 << 10)
            return .text("\(try await store.tryAsk { .keep(text, $0) }.get())")
        } catch let error as BodyError {
            return .refusing(error)
        } catch Undelivered.full {
            return Response(.unavailable, headers: ["Retry-After": "1"])
        } catch {
            return .text("\(error)", status: .internalError)
        }
    }

    private static func read(_ id: Int, from database: Database) -> Response {
        do {
            let text = try database.read { (db) throws(DatabaseError) in
                try db.first("SELECT text FROM note WHERE id = ?", .int(id)) {
                    (row) throws(DatabaseError) in try row.bytes(0)
                }
            }
            return text.map { Response(body: .bytes($0)) }
                ?? .text("No such note.", status: .notFound)
        } catch {
            return .text("\(error)", status: .internalError)
        }
    }

    private static func url(of server: Server) throws -> String {
        guard case .tcp(let address)? = server.listeners.first?.address else {
            throw ServerError.unusable(reason: "The note book has no address.")
        }
        return "http://\(address)"
    }

    /// In the order in which nothing that was accepted is lost.
    func close() async throws {
        _ = await server.stop(within: .seconds(5))
        store.close()
        try await database.close()
    }
}
