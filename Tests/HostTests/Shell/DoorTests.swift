import FoundationEssentials
import Glibc
import HTTP
import JSON
import Logging
import Metrics
import Sync
import System
import TestSupport
import Testing

@testable import Host

/// How the doors are opened and closed, and who is told.
struct DoorTests {
    @Test func `the ready file has the real addresses, and is there once all of them answer`()
        async throws
    {
        let scratch = try Scratch()
        let file = scratch.file("ready")
        let venue = try await ShellVenue(flags: ["ready-file": [file]])
        let ready = try JSON.Document(try Files.read(file)).root
        #expect(ready["api"]?.string == venue.api.description)
        #expect(ready["ops"]?.string == venue.ops.description)
        let socket = try #require(ready["socket"]?.string)
        #expect(socket == venue.scratch.file("holdfast.sock"))
        #expect(try ShellWire(venue.api).ask("GET /", [venue.host]).status == 404)
        #expect(try ShellWire(venue.ops).ask("GET /livez", [venue.opsHost]).status == 200)
        #expect(try ShellWire(socket: socket).ask("GET /", ["Host: x"]).status == 404)
        await venue.close()
        #expect(access(socket, F_OK) != 0)
    }

    @Test func `what was handed down and does not listen is refused`() throws {
        let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { for descriptor in [stream, datagrams] { close(descriptor) } }
        for descriptor in [stream, datagrams, 0, 1_000_000] {
            #expect(throws: ShellError.self, "\(descriptor)") {
                try ListenPlace.inherited(descriptor: descriptor).requireListener()
            }
        }
        #expect(listen(stream, 1) == 0)
        try ListenPlace.inherited(descriptor: stream).requireListener()
    }

    @Test func `a connection that was handed down is served, and is no socket that listens`()
        async throws
    {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        try ListenPlace.connected(descriptor: pair[1]).requireListener()
        #expect(throws: ShellError.self) {
            try ListenPlace.inherited(descriptor: pair[1]).requireListener()
        }
        #expect(throws: ShellError.self) {
            try ListenPlace.connected(descriptor: 1_000_000).requireListener()
        }
        let venue = try await ShellVenue(flags: ["listen": ["fd+connected://\(pair[1])"]])
        let wire = TextConnection(connected: pair[0])
        for _ in 0..<3 {
            wire.send("GET /nothing HTTP/1.1\r\nHost: localhost:8087\r\n\r\n")
            let answer = try wire.read(until: "/nothing for admin of all")
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
        }
        await venue.close()
    }

    @Test(arguments: [true, false])
    func `a socket that was handed down where the host's own would be is that one`(
        _ isListenChosen: Bool
    ) async throws {
        let scratch = try Scratch()
        let path = scratch.file("holdfast.sock")
        let given = try boundSocket(path)
        #expect(listen(given, 8) == 0)
        var flags = ["state": [scratch.path]]
        if isListenChosen { flags["listen"] = ["127.0.0.1:0"] }
        let venue = try await ShellVenue(
            flags: flags,
            activation: Activation(sockets: [.init(descriptor: given, name: "")])
        )
        #expect(venue.server.addresses.socket == path)
        #expect(try ShellWire(socket: path).ask("GET /", ["Host: x"]).status == 404)
        await venue.close()
        #expect(access(path, F_OK) == 0, "It is for whoever has made it to remove.")
    }

    @Test func `all sockets that are called ops are the operators'`() async throws {
        let scratch = try Scratch()
        let paths = ["a", "b"].map(scratch.file)
        let sockets = try paths.map { path -> Activation.Socket in
            let descriptor = try boundSocket(path)
            #expect(listen(descriptor, 8) == 0)
            return Activation.Socket(descriptor: descriptor, name: "ops")
        }
        let venue = try await ShellVenue(activation: Activation(sockets: sockets))
        for path in paths {
            let wire = try ShellWire(socket: path)
            #expect(try wire.ask("GET /livez", ["Host: x"]).status == 200)
        }
        await venue.close()
    }

    @Test
    func `a socket that is named by its number is for what it was named, however it is called`()
        async throws
    {
        let scratch = try Scratch()
        let paths = ["holdfast.sock", "figures"].map(scratch.file)
        let sockets = try paths.map { path -> Activation.Socket in
            let descriptor = try boundSocket(path)
            #expect(listen(descriptor, 8) == 0)
            return Activation.Socket(descriptor: descriptor, name: "")
        }
        let names = sockets.map { "fd+listening://\($0.descriptor)" }
        let venue = try await ShellVenue(
            flags: ["state": [scratch.path], "listen": [names[0]], "ops-listen": [names[1]]],
            activation: Activation(sockets: sockets)
        )
        let doors = venue.log.lines.filter { $0.contains("Listening.") }
        #expect(doors.count == 2)
        let statuses = try paths.map { try ShellWire(socket: $0).ask("GET /", ["Host: x"]).status }
        #expect(statuses == [404, 302])
        await venue.close()
    }

    /// What a start in that directory says, up to where it would open anything.
    private func start(in scratch: Scratch) async throws -> [String] {
        let log = ShellLog()
        let logbook = Logbook(format: .json, sink: log, timekeeper: SystemTimekeeper())
        var premises: HostServer.Premises = .quiet
        premises.log = Logger(logbook)
        let settings = try HostSettings(
            flags: ["state": [scratch.path]],
            environment: [:],
            isTerminal: false
        )
        let shell = HostShell(settings, premises: premises, logbook: logbook)
        await #expect(throws: ShellError.self) {
            try await shell.serve(
                until: AsyncStream { $0.finish() },
                reread: { () throws(SettingFlaw) in settings },
                wire: { _, _ in throw ShellError.listener("That far and no further.") }
            )
        }
        return log.lines
    }

    /// A host that is told to end at once, and whose last flush returns when the process is ended, unless it can return
    /// before.
    ///
    /// - Parameter start: What it waits for while it starts. Then it is told during that.
    private func end(
        at port: Int = 0,
        _ closing: HostServer.Closing,
        _ log: ShellLog,
        _ timekeeper: any Timekeeper = SystemTimekeeper(),
        start: Gate? = nil,
        flush: Gate = Gate(),
        conclude: @escaping @Sendable () async -> Void = {}
    ) async throws {
        let scratch = try Scratch()
        let logbook = Logbook(format: .json, sink: log, timekeeper: SystemTimekeeper())
        var premises: HostServer.Premises = .quiet(timekeeper)
        premises.log = Logger(logbook)
        let settings = try HostSettings(
            flags: [
                "state": [scratch.path], "listen": ["127.0.0.1:\(port)"],
                "ops-listen": ["127.0.0.1:0"],
            ],
            environment: [:],
            isTerminal: false
        )
        let shell = HostShell(settings, premises: premises, logbook: logbook, closing: closing) {
            flush.open()
        }
        let (signals, end) = AsyncStream<Signal>.makeStream()
        try await shell.serve(
            until: signals,
            reread: { settings },
            wire: { _, _ in
                if let start {
                    end.finish()
                    await start.pass()
                }
                return Interior(
                    household: ShellHousehold(),
                    inside: ShellVenue.routes(ShellVenue.plainAnswer),
                    tally: { [] },
                    close: { await flush.pass() },
                    conclude: conclude
                )
            },
            opened: { _ in end.finish() }
        )
    }

    @Test(.timeLimit(.minutes(1)))
    func `a flush that never returns does not keep the host from ending, and that is said`()
        async throws
    {
        let log = ShellLog()
        try await end(.init(within: .zero, leaving: .zero), log)
        let told = log.lines.filter { $0.contains("The disk does not answer") }
        #expect(told.count == 1 && told[0].contains(#""level":"error""#), "\(log.lines)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `nor does a flush keep a host that could not open its doors`() async throws {
        let taken = try listenOnLoopback()
        defer { close(taken.descriptor) }
        let log = ShellLog()
        await #expect(throws: ShellError.self) {
            try await end(at: taken.port, .init(leaving: .zero), log)
        }
        #expect(log.lines.filter { $0.contains("The disk does not answer") }.count == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a host that is told to end hears that also while it waits for its disk to start`()
        async throws
    {
        let log = ShellLog()
        let start = Gate()
        try await end(.init(within: .zero, leaving: .zero), log, start: start, flush: start)
        let told = log.lines.filter { $0.contains("The host was to end while it started") }
        #expect(told.count == 1 && told[0].contains(#""level":"error""#), "\(log.lines)")
    }

    @Test(.timeLimit(.minutes(1)))
    func `the disk is not spoken of once the last flush has returned, whatever is waited for then`()
        async throws
    {
        let log = ShellLog()
        let time = HeldTime(limit: .seconds(77))
        let flush = Gate()
        flush.open()
        try await end(.init(within: .zero, leaving: time.limit), log, time, flush: flush) {
            time.end.open()
            await time.ended.pass()
        }
        #expect(log.lines.allSatisfy { !$0.contains("The disk does not answer") }, "\(log.lines)")
    }

    @Test(.timeLimit(.minutes(1)))
    func
        `a hang-up has the extra authorities read again, wherever they are by then, and tells of a failure`()
        async throws
    {
        let scratch = try Scratch()
        func settings(_ authorities: String) throws -> HostSettings {
            try HostSettings(
                flags: [
                    "state": [scratch.path], "listen": ["127.0.0.1:0"],
                    "ops-listen": ["127.0.0.1:0"], "extra-ca": [authorities],
                ],
                environment: [:],
                isTerminal: false
            )
        }
        let log = ShellLog()
        let logbook = Logbook(format: .json, sink: log, timekeeper: SystemTimekeeper())
        var premises: HostServer.Premises = .quiet
        premises.log = Logger(logbook)
        let shell = HostShell(try settings("/a.pem"), premises: premises, logbook: logbook)
        let next = try settings("/b.pem")
        let (signals, sender) = AsyncStream<Signal>.makeStream()
        let asked = Lock<[String?]>([])
        try await shell.serve(
            until: signals,
            reread: { next },
            wire: { _, _ in
                Interior(
                    household: ShellHousehold(),
                    inside: ShellVenue.routes(ShellVenue.plainAnswer),
                    tally: { [] },
                    trust: { path in
                        asked.withLock { $0.append(path) }
                        throw ShellError.listener("Nothing can be read there.")
                    }
                )
            },
            opened: { _ in
                sender.yield(.hangUp)
                sender.finish()
            }
        )
        #expect(asked.withLock(\.self) == ["/b.pem"])
        let told = log.lines.filter { $0.contains("could not be read again") }
        #expect(told.count == 1 && told[0].contains("/b.pem"), "\(log.lines)")
        let reread = log.lines.filter { $0.contains("were read again") }
        #expect(reread.count == 1 && !reread[0].contains("afterRestart"), "\(log.lines)")
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(arguments: [(0o700, 0o700), (0o755, 0o755), (0o777, 0o755), (0o1777, 0o1777)])
    func `what others may do with the state is taken from them, and said once`(
        _ open: Int,
        _ kept: Int
    ) async throws {
        let scratch = try Scratch()
        #expect(chmod(scratch.path, mode_t(open)) == 0)
        let lines = try await start(in: scratch)
        #expect(mode(scratch.path) == mode_t(kept))
        #expect(lines.filter { $0.contains("taken from them") }.count == (open == kept ? 0 : 1))
        #expect(!lines.contains { $0.contains("Others may write") })
    }

    @Test func `files that a restore has left open are closed, and nothing that is not the host's`()
        async throws
    {
        let scratch = try Scratch()
        _ = try TokenCabinet(state: scratch.path, timekeeper: SystemTimekeeper())
        let own = ["tokens.json", "admin.token", "holdfast.db", "holdfast.db-wal", "lock"]
        let others = ["notes", "holdfast.dbx"]
        for name in own + others {
            if access(scratch.file(name), F_OK) != 0 {
                try Files.replace(scratch.file(name), with: [])
            }
            #expect(chmod(scratch.file(name), 0o666) == 0)
        }
        #expect(symlink(scratch.file("notes"), scratch.file("host.key")) == 0)
        let lines = try await start(in: scratch).filter { $0.contains("taken from them") }
        #expect(own.map { mode(scratch.file($0)) } == own.map { _ in 0o600 })
        #expect(others.map { mode(scratch.file($0)) } == others.map { _ in 0o666 })
        let names = own.sorted().joined(separator: ", ")
        #expect(lines.count == 1 && lines.first?.contains(names) == true, "\(lines)")
        #expect(try await start(in: scratch).isEmpty, "There is nothing left to take.")
    }

    @Test(
        .enabled(if: geteuid() == 0),
        arguments: [(0o700, false), (0o770, true), (0o1777, false)]
    )
    func `it is said once that others may write to a state that is not the host's own`(
        _ open: Int,
        _ isWarned: Bool
    ) async throws {
        let scratch = try Scratch()
        #expect(chmod(scratch.path, mode_t(open)) == 0 && chown(scratch.path, 65_534, 65_534) == 0)
        let lines = try await start(in: scratch)
        #expect(mode(scratch.path) == mode_t(open))
        #expect(lines.filter { $0.contains("Others may write") }.count == (isWarned ? 1 : 0))
    }

    @Test func `the socket's path is told whole, also where the state's is not`() async throws {
        let scratch = try Scratch()
        let here = FileManager.default.currentDirectoryPath
        let ups = here.split(separator: "/").map { _ in ".." }.joined(separator: "/")
        let venue = try await ShellVenue(flags: ["state": [ups + scratch.path]])
        #expect(venue.server.addresses.socket == "\(here)/\(ups)" + scratch.file("holdfast.sock"))
        await venue.close()
    }

    @Test func `the ready file tells of the operators' listener on a socket, too`() async throws {
        let scratch = try Scratch()
        let (file, path) = (scratch.file("ready"), scratch.file("ops.sock"))
        let flags = ["ready-file": [file], "ops-listen": ["unix:\(path)"]]
        let venue = try await ShellVenue(flags: flags)
        let told = try JSON.Document(try Files.read(file)).root
        #expect(told["ops"]?.string == "unix:\(path)")
        await venue.close()
    }

    @Test func `a ready file that cannot be written is said so`() async throws {
        await #expect(throws: ShellError.self) {
            try await ShellVenue(flags: ["ready-file": ["/dev/null/ready"]])
        }
    }

    @Test func `a port that is taken is named, and nothing else stays open`() async throws {
        let first = try await ShellVenue()
        let scratch = try Scratch()
        for (flag, address) in [("listen", first.api), ("ops-listen", first.ops)] {
            do {
                _ = try await ShellVenue(flags: [
                    flag: [address.description], "state": [scratch.path],
                ])
                Issue.record("\(flag) took a port that was taken.")
            } catch let error as ShellError {
                #expect(error.description.contains(String(address.port)))
            }
            #expect(access(scratch.file("holdfast.sock"), F_OK) != 0)
        }
        await first.close()
    }

    @Test func `a socket file that nobody answers at is replaced, one that is answered is not`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file("holdfast.sock")
        close(try boundSocket(path))
        let venue = try await ShellVenue(flags: ["state": [scratch.path]])
        #expect(try ShellWire(socket: path).ask("GET /", ["Host: x"]).status == 404)
        await #expect(throws: ShellError.self) {
            try await ShellVenue(flags: ["state": [scratch.path]])
        }
        #expect(try ShellWire(socket: path).ask("GET /", ["Host: x"]).status == 404)
        await venue.close()
    }

    @Test func `at all addresses any name will do, and no page all the same`() async throws {
        let venue = try await ShellVenue(flags: ["listen": ["*:0"]])
        let address = SocketAddress(host: "127.0.0.1", port: venue.api.port)
        #expect(try ShellWire(address).ask("GET /", ["Host: vault.lan"]).status == 404)
        #expect(
            try ShellWire(address).ask("GET /", ["Host: vault.lan", "Origin: x"]).status == 403
        )
        await venue.close()
    }

    @Test func `a name that nobody knows is no place to listen at`() async throws {
        await #expect(throws: ShellError.self) {
            try await ShellVenue(flags: ["listen": ["nobody.invalid:0"]])
        }
    }

    @Test func `what is under way is finished, and nobody is let in any more`() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        let venue = try await ShellVenue(answer: { _, _ in
            arrived.yield()
            for await _ in releases { break }
            return .text("done")
        })
        let wire = try ShellWire(venue.api)
        wire.send(
            "GET /status HTTP/1.1\r\n\(venue.host)\r\nConnection: close\r\n"
                + "Authorization: Bearer \(try venue.adminToken)\r\n\r\n"
        )
        for await _ in arrivals { break }
        async let closing: Void = venue.close()
        // The operators' side outlasts the API, so it tells when that has begun to close.
        while try ShellWire(venue.ops).ask("GET /readyz", [venue.opsHost]).status == 200 {
            await Task.yield()
        }
        while (try? ShellWire(venue.api)) != nil { await Task.yield() }
        release.yield()
        #expect(try wire.read().hasSuffix("done"))
        await closing
    }
}

/// Time of which one length does not pass before a test lets it.
private struct HeldTime: Timekeeper {
    let limit: Duration
    let end = Gate()
    let ended = Gate()

    var now: Date { SystemTimekeeper().now }
    var elapsed: Duration { SystemTimekeeper().elapsed }

    func sleep(for duration: Duration) async throws(CancellationError) {
        guard duration == limit else { return try await SystemTimekeeper().sleep(for: duration) }
        await end.pass()
        ended.open()
        if Task.isCancelled { throw CancellationError() }
    }
}

/// The protocol of the service manager, with a manager of our own.
struct SupervisorTests {
    @Test func `it is told of readiness, of reading again and of the end`() async throws {
        let scratch = try Scratch()
        let manager = try ScriptedManager(scratch.file("notify"))
        let voice = Supervisor(environment: ["NOTIFY_SOCKET": scratch.file("notify")])
        voice.tell(.ready("Serving."))
        voice.tell(.reloading)
        voice.tell(.stopping)
        #expect(manager.next() == "READY=1\nSTATUS=Serving.")
        let reloading = manager.next()
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(Int(reloading.split(separator: "=").last ?? "") ?? 0 > 0)
        #expect(manager.next().hasPrefix("STOPPING=1\n"))
        Supervisor(environment: [:]).tell(.alive)
        Supervisor(environment: ["NOTIFY_SOCKET": "/nowhere"]).tell(.alive)
    }

    @Test func `it hears twice as often as it asks that the host is alive`() async throws {
        let scratch = try Scratch()
        let manager = try ScriptedManager(scratch.file("notify"))
        let voice = Supervisor(
            environment: [
                "NOTIFY_SOCKET": scratch.file("notify"), "WATCHDOG_USEC": "2000000",
                "WATCHDOG_PID": "\(getpid())",
            ]
        )
        let timekeeper = VirtualTimekeeper()
        let pulse = Pulse()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await voice.keepWatch(timekeeper) { pulse.isThere.withLock { $0 } }
            }
            for second in 1...3 {
                while !timekeeper.advance() { await Task.yield() }
                #expect(manager.next() == "WATCHDOG=1")
                #expect(timekeeper.elapsed == .seconds(second))
            }
            pulse.isThere.withLock { $0 = false }
            while !timekeeper.advance() { await Task.yield() }
            while !timekeeper.advance() { await Task.yield() }
            #expect(manager.isSilent)
            group.cancelAll()
        }
    }

    @Test func `a mesh that comes to a stand lets the watchdog bite`() async throws {
        let scratch = try Scratch()
        let settings = try HostSettings(
            flags: ["state": [scratch.file("state")]],
            environment: [:],
            isTerminal: false
        )
        let timekeeper = VirtualTimekeeper()
        let interior = try await Wiring.interior(
            settings,
            in: try StateDirectory(settings.state),
            .quiet(timekeeper),
            try .real(settings)
        )
        // Its services are not run, so that none of them reads its messages.
        #expect(interior.isAlive())
        async let asleep: ()? = try? timekeeper.sleep(for: Heart.patience + .seconds(1))
        while timekeeper.elapsed <= Heart.patience {
            if !timekeeper.advance() { await Task.yield() }
        }
        await asleep
        #expect(!interior.isAlive())
        await interior.close()
        await interior.conclude()
    }

    @Test(arguments: [
        ([:], nil), (["WATCHDOG_USEC": "5"], nil),
        (["WATCHDOG_USEC": "5", "NOTIFY_SOCKET": "/x"], Duration.microseconds(5)),
        (["WATCHDOG_USEC": "5", "NOTIFY_SOCKET": "/x", "WATCHDOG_PID": "1"], nil),
        (["WATCHDOG_USEC": "x", "NOTIFY_SOCKET": "/x"], nil),
    ])
    func `who is not asked keeps no watch`(_ environment: [String: String], _ time: Duration?) {
        #expect(Supervisor(environment: environment, process: 7).watchdog == time)
    }

    @Test(arguments: [
        ([:], []), (["LISTEN_FDS": "1"], []), (["LISTEN_FDS": "1", "LISTEN_PID": "8"], []),
        (["LISTEN_FDS": "2", "LISTEN_PID": "7"], ["3", "4"]),
        (["LISTEN_FDS": "2", "LISTEN_PID": "7", "LISTEN_FDNAMES": "ops:api"], ["3ops", "4api"]),
        (["LISTEN_FDS": "-1", "LISTEN_PID": "7"], []),
    ])
    func `sockets that were handed down are known by number and name`(
        _ environment: [String: String],
        _ expected: [String]
    ) {
        let sockets = Activation(environment: environment, process: 7).sockets
        #expect(sockets.map { "\($0.descriptor)\($0.name)" } == expected)
    }
}

extension HostServer.Premises {
    /// Nobody supervises it, and nobody reads what it says.
    static var quiet: Self { quiet(SystemTimekeeper()) }

    static func quiet(_ timekeeper: any Timekeeper) -> Self {
        Self(
            registry: Registry(timekeeper: timekeeper),
            log: Logger(Logbook(sink: ShellLog(), timekeeper: timekeeper)),
            timekeeper: timekeeper,
            manager: Supervisor(environment: [:]),
            activation: .none
        )
    }
}

/// Whether the host is alive.
private final class Pulse: Sendable {
    let isThere = Lock(true)
}

/// A Unix socket that has a name and does not listen yet.
private func boundSocket(
    _ path: String,
    _ kind: __socket_type = SOCK_STREAM
) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(kind.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    try system("bind") { () -> Int32 in
        withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
    return descriptor
}

/// The other end of the notification socket.
private final class ScriptedManager {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = try boundSocket(path, SOCK_DGRAM)
    }

    func next() -> String { receive(0) ?? "" }

    var isSilent: Bool { receive(Int32(MSG_DONTWAIT)) == nil }

    private func receive(_ flags: Int32) -> String? {
        var chunk = [UInt8](repeating: 0, count: 1_024)
        let count = recv(descriptor, &chunk, chunk.count, flags)
        return count < 0 ? nil : String(decoding: chunk[..<count], as: UTF8.self)
    }

    deinit { close(descriptor) }
}
