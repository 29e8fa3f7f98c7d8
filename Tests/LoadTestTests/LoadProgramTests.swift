import FoundationEssentials
import Glibc
import JSON
import System
import TestSupport
import Testing

/// The command, with its own host and server, over real sockets.
@Suite(.serialized)
struct LoadProgramTests {
    private let program = Child.productsDirectory + "/holdfast"
    private let few = ["--users", "4", "--items", "6", "--edits", "8", "--concurrency", "4"]

    private func load(_ words: [String]) throws -> (Child, JSON.Value?) {
        let child = try Child.run(program, ["load"] + words)
        return (child, (try? JSON.Document(Array(child.output.utf8)))?.root)
    }

    @Test func `every edit of a short outage is accounted for`() throws {
        let (child, report) = try load(
            few + ["--conflicts", "0.5", "--offline-seconds", "0.5", "--json"]
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect(report?["good"]?.bool == true)
        #expect(report?["edits"]?["acknowledged"]?.int == 32)
        let checks = report?["checks"]?.array.map(Array.init) ?? []
        #expect(checks.count == 9)
        #expect(checks.allSatisfy { ($0["examined"]?.int ?? 0) > 0 }, "\(child.output)")
    }

    @Test func `what the machine's own host is set to is not said to the host of a test`() throws {
        setenv("HOLDFAST_CONFIG", "/nowhere/settings.json", 1)
        defer { unsetenv("HOLDFAST_CONFIG") }
        let (child, report) = try load(few + ["--offline-seconds", "0", "--json"])
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect(report?["edits"]?["acknowledged"]?.int == 32)
    }

    @Test func `one edit is too few to pace, and no reason to fail`() throws {
        let (child, report) = try load(
            ["fleet", "--users", "2", "--items", "2", "--edits", "1", "--json"]
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect(report?["edits"]?["acknowledged"]?.int == 2)
    }

    @Test func `how long other devices edit is not how long the host took`() throws {
        // With this seed the one edit is due at once, and the other device's at the end.
        let (child, report) = try load(
            [
                "--users", "1", "--items", "1", "--edits", "1", "--conflicts", "1",
                "--offline-seconds", "3", "--seed", "191", "--json",
            ]
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        let phases = report?["phases"]?.array.map(Array.init) ?? []
        let outage = try #require(phases.first { $0["name"]?.string == "outage" })
        let length = (outage["end"]?.double ?? 0) - (outage["begin"]?.double ?? 0)
        #expect(length > 2.5)
        #expect(try #require(report?["edits"]?["seconds"]?.double) < 1.5)
    }

    @Test func `every edit that was accepted is in a sample, also where the pace changes`() throws {
        let (child, report) = try load(
            ["fleet", "--users", "2", "--items", "20", "--edits", "200", "--json"]
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        let samples = report?["samples"]?.array.map(Array.init) ?? []
        let times = samples.map { $0["seconds"]?.double ?? 0 }
        let rates = samples.map { $0["acceptedPerSecond"]?.double ?? 0 }
        let sampled = zip(zip(times, times.dropFirst()), rates.dropFirst())
            .reduce(0) { $0 + ($1.0.1 - $1.0.0) * $1.1 }
        #expect(sampled.rounded() == report?["edits"]?["acknowledged"]?.double)
    }

    @Test func `in each round every token has run out`() throws {
        let (child, report) = try load(
            ["storm", "--users", "2", "--items", "4", "--edits", "2", "--rounds", "2", "--json"]
        )
        #expect((report?["upstreamCalls"]?["token"]?.int ?? 0) >= 4, "\(child.output)")
    }

    @Test func `a host that is killed amid the edits loses none of them`() throws {
        let (child, report) = try load(
            [
                "office", "--users", "5", "--items", "10", "--edits", "20", "--offline-seconds",
                "2", "--conflicts", "0.3", "--kill", "--json",
            ]
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect(report?["good"]?.bool == true)
        #expect((report?["edits"]?["acknowledged"]?.int ?? 0) >= 80)
        #expect((report?["edits"]?["processorMicroseconds"]?.double ?? 0) > 0)
    }

    @Test func `a host that does not come up again after it was killed ends the test`() throws {
        let scratch = try Scratch()
        let copy = scratch.file("holdfast")
        try FileManager.default.copyItem(atPath: program, toPath: copy)
        let running = try Running(
            copy,
            ["load"] + few + ["--offline-seconds", "4", "--kill", "--json"],
            environment: ["TMPDIR": scratch.path]
        )
        while try !running.complaint.contains("outage") { poll(nil, 0, 20) }
        // What is killed in the middle cannot be started again.
        unlink(copy)
        #expect(running.wait() == 1)
        #expect(try running.complaint.contains("cannot be started"))
        let report = try JSON.Document(Array(running.output.utf8)).root
        #expect(report["ending"]?.string == "failed")
    }

    @Test(arguments: [SIGINT, SIGHUP])
    func `a signal ends it with what is known by then`(_ signal: Int32) throws {
        let running = try Running(
            program,
            ["load"] + few + ["--offline-seconds", "600", "--json"]
        )
        while try !running.complaint.contains("outage") { poll(nil, 0, 20) }
        running.signal(signal)
        #expect(running.wait() == 1)
        let report = try JSON.Document(Array(running.output.utf8)).root
        #expect(report["ending"]?.string == "interrupted")
        #expect(report["good"]?.bool == false)
        #expect(report["phases"]?.array?.count == 3)
    }

    @Test func `a test that is killed leaves no host behind`() throws {
        let scratch = try Scratch()
        let running = try Running(
            program,
            ["load"] + few + ["--offline-seconds", "600"],
            environment: ["TMPDIR": scratch.path]
        )
        while try !running.complaint.contains("outage") { poll(nil, 0, 20) }
        let places = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        let state = scratch.file(try #require(places.first) + "/state")
        try #require(holder(of: state) != nil)
        running.signal(SIGKILL)
        #expect(running.wait() == -SIGKILL)
        for _ in 0..<500 where holder(of: state) != nil { poll(nil, 0, 20) }
        let host = holder(of: state)
        #expect(host == nil)
        if let host { kill(host, SIGKILL) }
    }

    /// Which process has the directory to itself.
    private func holder(of directory: String) -> Int32? {
        do throws(DirectoryLock.Refusal) {
            try DirectoryLock(directory).letGo()
        } catch {
            if case .held(let process) = error { return process }
        }
        return nil
    }

    @Test func `a host that is not there, and one that refuses the token, are told by the status`()
        throws
    {
        let host = try Host(program)
        let address = Array(host.flags.prefix(2))
        let refused = try load(few + address + ["--token", "hf_stolen"]).0
        #expect(refused.status == 77, "\(refused.complaint)")
        #expect(refused.complaint.contains("401"))
        let unseen = try load(few + host.flags + ["--ops", "http://127.0.0.1:1"]).0
        #expect(unseen.status == 69, "\(unseen.complaint)")
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
        let away = try load(few + host.flags).0
        #expect(away.status == 69, "\(away.complaint)")
        let nameless = ["--host", "http://nobody.invalid:1", "--token", "t"]
        let nowhere = try load(few + nameless).0
        #expect(nowhere.status == 69, "\(nowhere.complaint)")
    }

    @Test(arguments: [true, false])
    func `a host that dies amid the test is told by the status`(_ isSeen: Bool) throws {
        let host = try Host(program)
        let running = try Running(
            program,
            ["load"] + few + ["--offline-seconds", "2"] + host.flags + (isSeen ? host.ops : [])
        )
        while try !running.complaint.contains("outage") { poll(nil, 0, 20) }
        host.running.signal(SIGKILL)
        #expect(running.wait() == 69)
    }

    /// A host that was there before the test, and goes on after it.
    private struct Host {
        let scratch: Scratch
        let running: Running
        let flags: [String]
        let ops: [String]

        init(_ program: String) throws {
            scratch = try Scratch()
            let ready = scratch.file("ready.json")
            running = try Running(
                program,
                [
                    "serve", "--state", scratch.file("state"), "--listen", "127.0.0.1:0",
                    "--ops-listen", "127.0.0.1:0", "--ready-file", ready, "--log-level", "error",
                ]
            )
            while access(ready, R_OK) != 0 { poll(nil, 0, 20) }
            let places = try JSON.Document(try Files.read(ready)).root
            let token = try Files.read(scratch.file("state/admin.token")).filter { $0 > 0x20 }
            flags = [
                "--host", "http://\(places["api"]?.string ?? "")",
                "--token", String(decoding: token, as: UTF8.self),
            ]
            ops = ["--ops", "http://\(places["ops"]?.string ?? "")"]
        }

        /// How many changes wait in all accounts.
        func pending(_ program: String) throws -> Int {
            let accounts = try JSON.Document(Array(accounts(program).utf8)).root.array
            return (accounts.map(Array.init) ?? []).reduce(0) {
                $0 + ($1["pending"]?["total"]?.int ?? 0)
            }
        }

        /// The accounts in JSON, as its own commands show them.
        func accounts(_ program: String) throws -> String {
            try Child.run(program, ["accounts", "--json", "--state", scratch.file("state")]).output
        }
    }

    @Test func `a host that runs already is put to the test, and is rid of its accounts`() throws {
        let host = try Host(program)
        let (child, report) = try load(few + ["--offline-seconds", "0.3", "--json"] + host.flags)
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect(report?["good"]?.bool == true)
        #expect(try host.accounts(program) == "[]\n")
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `a test that is ended early leaves no account behind either`() throws {
        let host = try Host(program)
        let running = try Running(
            program,
            ["load"] + few + ["--offline-seconds", "600"] + host.flags
        )
        while try !running.complaint.contains("outage") { poll(nil, 0, 20) }
        #expect(try host.accounts(program).contains(".load.example"))
        running.signal(SIGINT)
        #expect(running.wait() == 1)
        let complaint = try running.complaint
        #expect(!complaint.contains("still"), "\(complaint)")
        #expect(try host.accounts(program) == "[]\n")
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `whoever ends the departure is told how to go on with it`() throws {
        let host = try Host(program)
        let running = try Running(
            program,
            ["load"] + few + ["--offline-seconds", "600"] + host.flags
        )
        while try !running.complaint.contains("outage") { poll(nil, 0, 20) }
        // A host that stands still lets nobody go. The first signal ends the test, the next what follows.
        host.running.signal(SIGSTOP)
        for _ in 0..<400 where try !running.complaint.contains("holdfast logout --account ID") {
            running.signal(SIGINT)
            poll(nil, 0, 50)
        }
        #expect(running.wait() == 1)
        let complaint = try running.complaint
        #expect(complaint.contains("the departure was ended."), "\(complaint)")
        #expect(!complaint.contains("Nothing has to be done"), "\(complaint)")
        host.running.signal(SIGCONT)
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test(arguments: [true, false])
    func `what waits in other people's accounts is not waited for`(_ isSeen: Bool) throws {
        let host = try Host(program)
        let others = try Running(
            program,
            ["load"] + few + ["--offline-seconds", "600"] + host.flags
        )
        while try host.pending(program) == 0 { poll(nil, 0, 50) }
        let (child, report) = try load(
            few + ["--offline-seconds", "0.3", "--json"] + host.flags + (isSeen ? host.ops : [])
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect((report?["drain"]?["changes"]?.int ?? 0) > 0)
        #expect(try host.pending(program) > 0)
        others.signal(SIGINT)
        #expect(others.wait() == 1)
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `a report for which there is no room is still on the terminal`() throws {
        let (child, _) = try load(
            [
                "smoke", "--users", "2", "--edits", "3", "--offline-seconds", "0",
                "--report", "/dev/full",
            ]
        )
        #expect(child.status == 1)
        #expect(child.output.contains("Every check holds."))
        #expect(child.complaint.contains("Cannot write /dev/full: "))
    }

    @Test func `the reports are written to their files`() throws {
        let scratch = try Scratch()
        let (child, _) = try load(
            [
                "smoke", "--users", "2", "--edits", "3", "--offline-seconds", "0",
                "--report", scratch.file("report.json"), "--html", scratch.file("report.html"),
            ]
        )
        #expect(child.status == 0, "\(child.output) \(child.complaint)")
        #expect(child.output.contains("Every check holds."))
        let json = try JSON.Document(try Files.read(scratch.file("report.json"))).root
        #expect(json["good"]?.bool == true)
        let page = String(decoding: try Files.read(scratch.file("report.html")), as: UTF8.self)
        #expect(page.contains("Every check holds"))
    }

    @Test(arguments: [
        ["nonsense"], ["smoke", "office"], ["--users", "0"], ["--users", "many"],
        ["--conflicts", "2"], ["--offline-seconds", "-1"], ["--host", "http://127.0.0.1:1"],
        ["--host", "nowhere", "--token", "t"],
        ["--host", "http://127.0.0.1:99999", "--token", "t"],
        ["--host", "http://127.0.0.1:1", "--token", "t", "--ops", "nowhere"], ["--users", ""],
        ["--kill", "--host", "http://127.0.0.1:1", "--token", "t"],
        ["--report", "no.html", "--html", "./no.html"],
        ["--token", "t"], ["--ops", "http://127.0.0.1:1"], ["--host", "embedded", "--token", "t"],
    ])
    func `what makes no sense is refused in one line`(_ words: [String]) throws {
        let (child, _) = try load(words)
        #expect(child.status == 64)
        #expect(child.complaint.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["--report", "--html"])
    func `a report that cannot be written is found out before the test begins`(
        _ flag: String
    ) throws {
        let scratch = try Scratch()
        for file in [scratch.path, scratch.file("no/such/place"), "/proc/report"] {
            let (child, _) = try load(["smoke", flag, file])
            #expect(child.status == 1)
            #expect(child.complaint.hasPrefix("holdfast: Cannot write \(file): "))
            #expect(child.complaint.split(separator: "\n").count == 1, "It has begun nothing.")
        }
    }

    @Test func `a host that cannot be reached is a failure that says so`() throws {
        let (child, report) = try load(
            ["smoke", "--host", "http://127.0.0.1:1", "--token", "t", "--json"]
        )
        #expect(child.status == 69)
        #expect(report?["ending"]?.string == "failed")
        #expect(child.complaint.contains("127.0.0.1:1"))
    }
}
