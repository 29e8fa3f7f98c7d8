import Glibc
import JSON
import System

/// Keeps a host running for the test: starts it, and starts it again after it was killed.
final class Landlord: Sendable {
    struct Addresses: Sendable {
        let api: String
        let ops: String
        let token: String
    }

    private let program: String
    private let directory: String
    private let timekeeper: any Timekeeper
    private let process: Lock<ChildProcess?>
    /// What those that were killed said last, and for how long they kept processors busy.
    private let former = Lock((pages: [MetricsPage](), processorSeconds: 0.0))

    init(program: String, directory: String, timekeeper: any Timekeeper) {
        self.program = program
        self.directory = directory
        self.timekeeper = timekeeper
        process = Lock(nil)
    }

    /// A host with 100,000 accounts is ready after a sixth of it.
    private static let patience = Duration.seconds(120)

    private var state: String { directory + "/state" }

    /// - Parameter places: Where it listened before; nil for wherever there is room.
    func start(at places: Addresses? = nil) async throws -> Addresses {
        let ready = directory + "/ready.json"
        unlink(ready)
        let child = try ChildProcess(
            program,
            [
                "serve", "--state", state, "--listen", places.map(\.api) ?? "127.0.0.1:0",
                "--ops-listen", places.map(\.ops) ?? "127.0.0.1:0", "--ready-file", ready,
                "--log-level", "warning", "--log-format", "json", "--max-pending", "1000000",
            ],
            output: directory + "/host.log",
            timekeeper: timekeeper
        )
        process.withLock { $0 = child }
        let deadline = timekeeper.elapsed + Self.patience
        while access(ready, R_OK) != 0 {
            guard child.isRunning else { throw LoadFailure("The host has ended. \(lastWords)") }
            guard timekeeper.elapsed < deadline else {
                throw LoadFailure("The host does not get ready. \(lastWords)")
            }
            try await timekeeper.sleep(for: .milliseconds(20))
        }
        return try addresses(ready)
    }

    private func addresses(_ ready: String) throws -> Addresses {
        let json = try JSON.Document(try Files.read(ready)).root
        guard let api = json["api"]?.string, let ops = json["ops"]?.string else {
            throw LoadFailure("The host does not say where it listens.")
        }
        let token = try Files.read(state + "/admin.token").filter { $0 > 0x20 }
        return Addresses(api: api, ops: ops, token: String(decoding: token, as: UTF8.self))
    }

    private var lastWords: String {
        let log = (try? Files.read(directory + "/host.log")) ?? []
        let lines = String(decoding: log, as: UTF8.self).split(separator: "\n")
        return lines.suffix(3).joined(separator: " ")
    }

    /// Nobody need wait for one that has ended.
    func requireHost() throws(LoadFailure) {
        guard process.withLock({ $0 })?.isRunning == true else {
            throw LoadFailure("The host has ended. \(lastWords)", .hostIsAway)
        }
    }

    var formerPages: [MetricsPage] { former.withLock { $0.pages } }

    /// - Parameter page: The last that is known of its figures, which go with it.
    func kill(_ page: MetricsPage?) async {
        let seconds = ownProcessorSeconds ?? 0
        former.withLock { former in
            former.processorSeconds += seconds
            if let page { former.pages.append(page) }
        }
        await process.withLock { $0.take() }?.killNow()
    }

    func end() async {
        await process.withLock { $0.take() }?.end(within: .seconds(15))
    }

    /// For how long the host has kept processors busy, those that were killed included.
    var processorSeconds: Double? {
        ownProcessorSeconds.map { $0 + former.withLock { $0.processorSeconds } }
    }

    private var ownProcessorSeconds: Double? {
        guard let child = process.withLock({ $0 }),
            let bytes = try? Files.read("/proc/\(child.id)/stat")
        else { return nil }
        // The name, which may hold anything, ends with the last bracket; then come state and numbers.
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 12, let user = Double(fields[11]),
            let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Memory that is the process's own, without what it has mapped from files.
    var ownMemory: Int? {
        guard let child = process.withLock({ $0 }),
            let bytes = try? Files.read("/proc/\(child.id)/status")
        else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("RssAnon:") }
        let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
        return number.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
