import Bitwarden
import FoundationEssentials
import Glibc
import HTTP
import Host
import JSON
import Sync
import System
import Vault

/// How long a sync takes from the request to rows on the disk, and how much memory, as vaults grow;
/// beside what others take to read the same bytes.
enum UpstreamSyncBenchmarks {
    static func run(_ bench: Bench) async throws {
        for count in bench.isQuick ? [100, 200] : [1_000, 10_000, 100_000] {
            try await sync(bench, body(ciphers: count), count)
        }
    }

    private static func sync(_ bench: Bench, _ body: [UInt8], _ count: Int) async throws {
        guard let nginx = try StaticServer("null", type: "application/json", file: body) else {
            return
        }
        var stored = Stage()
        try await UpstreamBenchmarks.withAccount(nginx.url) { account, _ in
            var fetched = Stage()
            try await bench.measure("sync of \(count) items, read", unit: "ms") {
                try await fetched.pass { try check(try await account.sync(), count) }
            }
            bench.note("  at most", "\(fetched.megabytes) MB more")
            try await bench.measure("sync of \(count) items, read and stored", unit: "ms") {
                let bed = try await SyncBed()
                let time = try await stored.pass { try await bed.store(try await account.sync()) }
                try await bed.remove()
                return time
            }
        }
        bench.note("  at most", "\(stored.megabytes) MB more")
        for reader in OtherReader.all {
            let run = try reader.read(nginx.syncPath)
            bench.note("  \(reader.name)", "\(run.milliseconds) ms, \(run.megabytes) MB")
        }
        withExtendedLifetime(nginx) {}
    }

    private static func check(_ fetched: SyncFetched, _ count: Int) throws {
        guard fetched.picture.ciphers?.count == count else {
            throw UsageError(description: "The sync has lost some of its ciphers.")
        }
    }

    /// Our usual body, with a profile that is whole.
    private static func body(ciphers count: Int) -> [UInt8] {
        let text = "\"profile\":{"
        var body = SyncBody.bytes(ciphers: count)
        if let place = body.firstRange(of: Array(text.utf8)) {
            body.insert(
                contentsOf: Array("\"email\":\"a@example.com\",".utf8),
                at: place.upperBound
            )
        }
        return body
    }
}

/// A store in a directory of its own, with one account and nothing in it.
private struct SyncBed {
    private let store: Store
    private let directory: String
    private let userID = SyncBody.id(0)

    init() async throws {
        directory = FileManager.default.temporaryDirectory.path + "/bench-" + UUID().uuidString
        store = try await Store.open(
            in: StateDirectory(directory),
            options: Store.Options(),
            time: SystemTimekeeper(),
            chance: SystemChance()
        ).store
        try await store.put(StoredAccount(id: userID, record: []))
    }

    func store(_ fetched: SyncFetched) async throws {
        let mark = try store.reader.refreshMark(of: userID)
        let ciphers = try fetched.answer.ciphers.map { piece in
            guard let id = piece["id"]?.string,
                let revision = piece["revisionDate"]?.string.flatMap({ Revision($0) })
            else { throw UsageError(description: "A cipher without id or revision.") }
            return BaseCipher(
                lane: Lane(userID: userID, cipherID: id),
                revision: revision,
                organizationID: piece["organizationId"]?.string,
                json: Array(piece.raw.bytes)
            )
        }
        let slices = fetched.answer.folders.map { piece in
            BaseSlice(.folder, id: piece["id"]?.string ?? "", json: Array(piece.raw.bytes))
        }
        let change = try await store.refresh(userID, ciphers: ciphers, slices: slices, since: mark)
        guard change.changed == ciphers.count else {
            throw UsageError(description: "The store has not taken all.")
        }
    }

    func remove() async throws {
        try await store.close()
        try FileManager.default.removeItem(atPath: directory)
    }
}

/// The time of something, and by how much the memory of this process grew at most meanwhile.
private struct Stage {
    private(set) var megabytes = 0

    mutating func pass(_ body: () async throws -> Void) async throws -> Double {
        try? File(path: "/proc/self/clear_refs", flags: O_WRONLY).write([UInt8(ascii: "5")])
        let before = Self.kilobytes("VmRSS")
        let time = try await seconds(body)
        megabytes = max(megabytes, (Self.kilobytes("VmHWM") - before) / 1_024)
        return time * 1_000
    }

    private static func kilobytes(_ name: String) -> Int {
        let status = (try? Files.read("/proc/self/status")) ?? []
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(name + ":") }
        return Int(line?.filter(\.isNumber) ?? "") ?? 0
    }
}

/// A program that reads JSON from a file, and does nothing with it.
private struct OtherReader {
    let name: String
    private let program: String
    private let arguments: [String]

    static var all: [OtherReader] {
        let script = "import json,sys; json.load(open(sys.argv[1]))"
        return [
            OtherReader("jq", [".ciphers|length"]), OtherReader("python3", ["-c", script]),
        ].compactMap(\.self)
    }

    private init?(_ name: String, _ arguments: [String]) {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let places = path.split(separator: ":").map { "\($0)/\(name)" }
        guard let program = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        (self.name, self.program, self.arguments) = (name, program, arguments)
    }

    /// The whole process, from its start to its end.
    ///
    /// A shell is in between: what the system reports of a child begins with what its parent had.
    func read(_ file: String) throws -> (milliseconds: Int, megabytes: Int) {
        let measured = "\(program) \(arguments.map { "'\($0)'" }.joined(separator: " ")) '\(file)'"
        let start = ContinuousClock.now
        guard let pipe = popen("/usr/bin/time -f %M \(measured) 2>&1 >/dev/null", "r") else {
            throw SystemError("popen", code: errno)
        }
        var line = [CChar](repeating: 0, count: 256)
        fgets(&line, Int32(line.count), pipe)
        pclose(pipe)
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self)
        return (Int(time.rounded()), (Int(text.filter(\.isNumber)) ?? 0) / 1_024)
    }
}
