import JSON
import SQLite
import System

/// Keeps the world on the disk, part by part.
final class Archive: Sendable {
    static func open(_ directory: String) async throws(UpstreamError) -> Archive {
        Archive()
    }

    func keep(_ changes: Set<Change>, of world: World) async throws(UpstreamError) {}

    func restore(_ world: inout World) async throws(UpstreamError) {}

    func close() async throws(UpstreamError) {}
}
