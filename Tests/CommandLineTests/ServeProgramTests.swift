import Glibc
import FoundationEssentials
import JSON
import System
import TestSupport
import Testing

/// The host itself, started as its operator would. The numbers are those of the conformance list.
struct ServeProgramTests {
    /// A running host.
    final class Host {
        let scratch: Scratch
        let running: Running
        let api: Int
        let ops: Int

        let state: String
        var socket: String { state + "/holdfast.sock" }

        /// - Parameters:
        ///   - script: What a shell is to do before the program takes its place.
        ///   - folder: Where its state is.
        init(
            _ flags: [String] = [],
            after script: String? = nil,
            in folder: String = "state"
        ) throws {
            scratch = try Scratch()
            state = scratch.file(folder)
            let ready = scratch.file("ready")
            let words = [
                Child.productsDirectory + "/holdfast", "serve", "--state", state,
                "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--ready-file", ready,
            ]
            let shell = script.map { ["/bin/sh", "-c", #"\#($0); exec "$0" "$@""#] } ?? []
            let line = shell + words + flags
            running = try Running(line[0], Array(line.dropFirst()))
            let document = try JSON.Document(try Self.arrival(of: ready)).root
            api = try Self.port(document["api"])
            ops = try Self.port(document["ops"])
        }

        private static func port(_ value: JSON.Value?) throws -> Int {
            try #require(value?.string?.split(separator: ":").last.flatMap { Int($0) })
        }

        /// The file's contents, once it is there; it appears whole.
        static func arrival(of path: String) throws -> [UInt8] {
            let folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            let watch = inotify_init1(0)
            defer { close(watch) }
            inotify_add_watch(watch, folder, 0x80)
            while access(path, F_OK) != 0 {
                var wish = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
                try #require(poll(&wish, 1, 20_000) == 1, "The host does not become ready.")
                var chunk = [UInt8](repeating: 0, count: 4_096)
                _ = Glibc.read(watch, &chunk, chunk.count)
            }
            return try Files.read(path)
        }

        func ask(
            _ line: String,
            _ headers: [String]? = nil,
            body: String = ""
        ) throws -> TextConnection.Answer {
            try TextConnection("127.0.0.1", port: api).ask(
                line,
                headers ?? ["Host: localhost:\(api)", "Authorization: Bearer \(try token)"],
                body: body
            )
        }

        var token: String {
            get throws {
                let bytes = try Files.read(state + "/admin.token")
                return String(decoding: bytes.dropLast(), as: UTF8.self)
            }
        }
    }

    private func holdfast(_ words: String...) throws -> Child {
        try Child.run(Child.productsDirectory + "/holdfast", words)
    }

    @Test func `1: it listens at 127.0.0.1:8087 unless it is told otherwise`() throws {
        let lines = try holdfast("serve", "--print-config", "--state", "/s").output
        #expect(
            lines.contains("listen = 127.0.0.1:8087, unix:/s/holdfast.sock (default)\n")
        )
        #expect(lines.contains("state = /s (flag)\n"))
    }

    @Test func `a state directory may be deeper than the address of a socket is long`() throws {
        let folder = String(repeating: "deep", count: 40)
        let host = try Host(in: folder)
        #expect(host.socket.utf8.count > 160)
        for _ in 1...2 {
            let status = try holdfast("status", "--state", host.state, "--json")
            #expect(status.status == 0 && status.output.contains("unauthenticated"))
        }
        let second = try holdfast("serve", "--state", host.state, "--listen", "127.0.0.1:0")
        #expect(second.status == 1, "It is held.")
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
        #expect(access(host.socket, F_OK) != 0)
        let gone = try holdfast("status", "--state", host.state)
        #expect(
            gone.status == 69 && gone.complaint.contains("No host is running at \(host.socket)")
        )
    }

    @Test(arguments: ["serve", "demo"])
    func `a host with too few descriptors says so and does not start`(_ command: String) throws {
        let scratch = try Scratch()
        let words = [
            Child.productsDirectory + "/holdfast", command, "--state", scratch.file("state"),
            "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
        ]
        let script = #"ulimit -n 127; exec "$0" "$@""#
        let child = try Child.run("/bin/sh", ["-c", script] + words)
        #expect(child.status == 1)
        #expect(child.complaint.contains("may have 127 files open, and a host needs 128"))
        #expect(access(scratch.file("state"), F_OK) != 0)
    }

    @Test func `a host takes as many descriptors as it may have`() throws {
        let host = try Host(after: "ulimit -Sn 20")
        let limits = String(
            decoding: try Files.read("/proc/\(host.running.pid)/limits"),
            as: UTF8.self
        )
        let line = try #require(
            limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        )
        let numbers = line.split(separator: " ").compactMap { UInt64($0) }
        #expect(numbers.count == 2 && numbers.first == numbers.last)
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `a demo leaves a directory alone that another host holds`() throws {
        let host = try Host()
        let demo = try holdfast("demo", "--state", host.state, "--listen", "127.0.0.1:0")
        #expect(demo.status == 1)
        #expect(access(host.state + "/upstream", F_OK) != 0)
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `a demo that says it is ready has its items`() throws {
        let scratch = try Scratch()
        let ready = scratch.file("ready")
        let running = try Running(
            Child.productsDirectory + "/holdfast",
            [
                "demo", "--state", scratch.file("state"), "--listen", "127.0.0.1:0",
                "--ops-listen", "127.0.0.1:0", "--ready-file", ready,
            ]
        )
        _ = try Host.arrival(of: ready)
        let list = try holdfast("list", "--state", scratch.file("state"))
        for name in ["Bank", "Mail", "Front door", "Travel card"] {
            #expect(list.output.contains(name), "\(list.output)")
        }
        running.signal(SIGTERM)
        #expect(running.wait() == 0)
    }

    @Test func `what a demo has one try works also where it listens at Unix sockets only`() throws {
        let scratch = try Scratch()
        let (ready, guide) = (scratch.file("ready"), scratch.file("guide"))
        let program = Child.productsDirectory + "/holdfast"
        let running = try Running(
            "/bin/sh",
            [
                "-c", "exec \"$0\" \"$@\" > \(guide)", program, "demo",
                "--state", scratch.file("state"), "--listen", "unix:\(scratch.file("api"))",
                "--ops-listen", "unix:\(scratch.file("ops"))", "--ready-file", ready,
            ]
        )
        _ = try Host.arrival(of: ready)
        let lines = String(decoding: try Files.read(guide), as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("  API       \(scratch.file("api"))"))
        #expect(lines.contains("  health    \(scratch.file("ops")): /status and /metrics"))
        let calls = lines.filter { $0.hasPrefix("  curl ") }
        #expect(calls.count == 6)
        for call in calls {
            #expect(call.hasPrefix("  curl --unix-socket '\(scratch.file("api"))' -s"), "\(call)")
        }
        running.signal(SIGTERM)
        #expect(running.wait() == 0)
    }

    @Test func `a demo tells its settings too, and certificates have to be there`() throws {
        let demo = try holdfast("demo", "--print-config", "--state", "/s")
        #expect(demo.status == 0 && demo.output.contains("state = /s (flag)\n"))
        #expect(demo.output.contains("log-level = warning (default)\n"))
        let scratch = try Scratch()
        let file = scratch.file("c.json")
        try Files.replace(file, with: Array(#"{"log-level":"debug","state":"/f"}"#.utf8))
        let filed = try holdfast("demo", "--print-config", "--config", file).output
        #expect(filed.contains("log-level = debug (file)\n"))
        #expect(filed.contains("state = /f (file)\n"))
        let bare = try holdfast("serve", "--state", "/s", "--extra-ca", "/nowhere.pem")
        #expect(bare.status == 64 && bare.complaint.contains("'/nowhere.pem'"))
        // A key, as it may lie beside the certificate that was meant.
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        try Files.replace(file, with: Array(key.utf8))
        let keyed = try holdfast("serve", "--state", "/s", "--extra-ca", file)
        #expect(keyed.status == 64 && keyed.complaint.contains("no PEM certificate"))
    }

    @Test func `a demo keeps out of the state that is exported for a host and its commands`() throws
    {
        func settings(_ command: String) throws -> Child {
            let words = [Child.productsDirectory + "/holdfast", command, "--print-config"]
            return try Child.run(
                "/bin/sh",
                ["-c", #"HOLDFAST_STATE=/s exec "$0" "$@""#] + words
            )
        }
        let demo = try settings("demo")
        #expect(demo.status == 0 && demo.output.contains("\nstate = /tmp/holdfast-demo-"))
        #expect(try settings("serve").output.contains("\nstate = /s (env)\n"))
    }

    @Test func `who signs in where no server is known reads both ways to name one`() throws {
        let host = try Host()
        let script = #"PASSWORD=x exec "$0" "$@""#
        let words = [
            Child.productsDirectory + "/holdfast", "login", "ada@example.org", "--password-env",
            "PASSWORD", "--state", host.state,
        ]
        let login = try Child.run("/bin/sh", ["-c", script] + words)
        #expect(login.status == 1)
        #expect(login.complaint.contains("which server") && login.complaint.contains("--upstream"))
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `2 to 6: names, pages, the root and methods`() throws {
        let host = try Host()
        let bearer = "Authorization: Bearer \(try host.token)"
        let cases: [(number: Int, line: String, headers: [String], status: Int, text: String?)] = [
            (2, "GET /status", ["Host: evil:8087", bearer], 403, "Forbidden"),
            (2, "GET /status", [bearer], 403, "Forbidden"),
            (3, "GET /nowhere", ["Host: localhost:\(host.api)", "Origin: null"], 403, "Forbidden"),
            (4, "GET /status", ["Host: LOCALHOST:\(host.api)", bearer], 200, nil),
            (5, "GET /", ["Host: 127.0.0.1:\(host.api)"], 404, "Not Found"),
            (5, "POST /", ["Host: 127.0.0.1:\(host.api)"], 401, nil),
            (6, "GET /unlock", ["Host: [::1]:\(host.api)", bearer], 405, "Method Not Allowed"),
        ]
        for (number, line, headers, status, text) in cases {
            let answer = try host.ask(line, headers)
            #expect(answer.status == status, "\(number)")
            if let text { #expect(answer.body == text, "\(number)") }
        }
        #expect(try host.ask("GET /unlock").header("Allow")?.contains("POST") == true)
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
    }

    @Test func `what is too large is refused before anybody is asked who they are`() throws {
        let host = try Host()
        for length in [1_048_577, 1_048_576] {
            let wire = try TextConnection("127.0.0.1", port: host.api)
            wire.send(
                "POST /unlock HTTP/1.1\r\nHost: evil\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(length)\r\nExpect: 100-continue\r\n\r\n"
            )
            let status = length > 1_048_576 ? 413 : 403
            #expect(try wire.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 \(status)"))
        }
    }

    @Test func `13: two requests go over one connection`() throws {
        let host = try Host()
        let wire = try TextConnection("127.0.0.1", port: host.api)
        for _ in 0..<2 {
            wire.send("GET / HTTP/1.1\r\nHost: localhost:\(host.api)\r\n\r\n")
            #expect(try wire.read(until: "\r\n\r\nNot Found").hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test func `a second host at the same state says who holds it`() throws {
        let host = try Host()
        let second = try holdfast("serve", "--state", host.state, "--listen", "127.0.0.1:0")
        #expect(second.status == 1)
        #expect(second.complaint.contains("\(host.running.pid)"))
        #expect(second.complaint.split(separator: "\n").count == 1)
        #expect(try host.ask("GET /status").status == 200)
    }

    @Test func `a port that is taken is named, and so is one that makes no sense`() throws {
        let host = try Host()
        let scratch = try Scratch()
        let taken = try holdfast(
            "serve",
            "--state",
            scratch.file("s"),
            "--ops-listen",
            "127.0.0.1:0",
            "--port",
            "\(host.api)"
        )
        #expect(taken.status == 1 && taken.complaint.contains(":\(host.api)"))
        let state = scratch.file("t")
        let open = try holdfast("serve", "--state", state, "--no-auth", "--listen", "0.0.0.0:0")
        #expect(open.status == 64 && open.complaint.contains("--no-auth"))
        let wrong = try holdfast("serve", "--state", state, "--sync-interval", "soon")
        #expect(wrong.status == 64 && wrong.complaint.contains("'soon'"))
        #expect(access(state, F_OK) != 0, "What is refused leaves nothing behind.")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `what is under way is finished before it ends`(_ signal: Int32) throws {
        let host = try Host()
        let wire = try TextConnection("127.0.0.1", port: host.api)
        let body = #"{"scope":"read"}"#
        wire.send(
            "POST /tokens HTTP/1.1\r\nHost: localhost:\(host.api)\r\nConnection: close\r\n"
                + "Authorization: Bearer \(try host.token)\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Expect: 100-continue\r\n\r\n"
        )
        // It is being handled once it asks for its body.
        #expect(try wire.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        host.running.signal(signal)
        while (try? TextConnection("127.0.0.1", port: host.api)) != nil {}
        wire.send(body)
        #expect(try wire.read().contains(#""token":"hf_"#))
        #expect(host.running.wait() == 0)
        #expect(access(host.socket, F_OK) != 0)
    }

    @Test func `a hang-up has tokens and the log's level read again`() throws {
        let host = try Host()
        let token = try host.token
        #expect(try host.ask("GET /tokens").status == 200)
        try Files.replace(
            host.state + "/tokens.json",
            with: Array(#"{"tokens":[]}"#.utf8)
        )
        host.running.signal(SIGHUP)
        let headers = ["Host: localhost:\(host.api)", "Authorization: Bearer \(token)"]
        var status = 200
        let end = SystemTimekeeper().elapsed + .seconds(60)
        while status == 200, SystemTimekeeper().elapsed < end {
            status = try host.ask("GET /tokens", headers).status
        }
        #expect(status == 401)
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
        let lines = try host.running.complaint.split(separator: "\n")
        let line = try #require(lines.first { $0.contains("were read again") })
        #expect(line.contains(#""logLevel":"info""#))
        #expect(!line.contains("level_") && !line.contains("afterRestart"))
    }

    @Test func `a hang-up takes over nothing if the settings are not right`() throws {
        let scratch = try Scratch()
        let config = scratch.file("config.json")
        try Files.replace(config, with: Array("{}".utf8))
        let host = try Host(["--config", config])
        let headers = [
            "Host: localhost:\(host.api)", "Authorization: Bearer \(try host.token)",
        ]
        try Files.replace(host.state + "/tokens.json", with: Array(#"{"tokens":[]}"#.utf8))
        try Files.replace(config, with: Array("{".utf8))
        host.running.signal(SIGHUP)
        let end = SystemTimekeeper().elapsed + .seconds(60)
        while try !host.running.complaint.contains("Nothing was changed"),
            SystemTimekeeper().elapsed < end
        {}
        #expect(try host.running.complaint.contains("Nothing was changed"))
        #expect(try host.ask("GET /tokens", headers).status == 200)
    }

    @Test(arguments: ["file", "link"])
    func `a ready file that its output goes to is written on, not replaced`(
        _ name: String
    ) throws {
        let scratch = try Scratch()
        let (output, link) = (scratch.file("output"), scratch.file("link"))
        #expect(symlink("/proc/self/fd/1", link) == 0)
        let ready = name == "link" ? link : output
        let running = try Running(
            "/bin/sh",
            [
                "-c", #"echo first > "$2"; exec "$1" upstream --ready-file "$3" >> "$2""#, "sh",
                Child.productsDirectory + "/holdfast", output, ready,
            ]
        )
        var text = ""
        let end = SystemTimekeeper().elapsed + .seconds(60)
        while !text.contains("Listening on"), SystemTimekeeper().elapsed < end {
            text = String(decoding: (try? Files.read(output)) ?? [], as: UTF8.self)
        }
        running.signal(SIGTERM)
        #expect(running.wait() == 0)
        text = String(decoding: try Files.read(output), as: UTF8.self)
        #expect(text.hasPrefix("first\n{\"upstream\":\"127.0.0.1:") && text.hasSuffix(".\n"))
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test func `its memory is kept out of core dumps`() throws {
        let host = try Host()
        let limits = String(
            decoding: try Files.read("/proc/\(host.running.pid)/limits"),
            as: UTF8.self
        )
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core") })
        #expect(line.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    }

    @Test func `a running host's page of figures is one that promtool has nothing to say about`()
        throws
    {
        let host = try Host()
        let page = try TextConnection("127.0.0.1", port: host.ops).ask(
            "GET /metrics",
            ["Host: localhost:\(host.ops)"]
        )
        let verdict = try Child.run("promtool", ["check", "metrics"], input: page.body)
        #expect(verdict.status == 0 && verdict.output + verdict.complaint == "")
        #expect(page.body.contains("holdfast_build_info{version=\"0.1.0\",swift=\"6."))
    }

    @Test func `the commands find it by its state`() throws {
        let host = try Host()
        let made = try holdfast("token", "create", "--scope", "read", "--state", host.state)
        #expect(made.status == 0 && made.output.hasPrefix("hf_"))
        let list = try holdfast("token", "list", "--json", "--state", host.state)
        let tokens = try JSON.Document(Array(list.output.utf8)).root
        #expect(tokens.array?.count == 2)
        let inWords = try holdfast("accounts", "--state", host.state).output
        #expect(inWords == "No account has signed in yet.\n", "Its output is no terminal here.")
        #expect(try holdfast("accounts", "--json", "--state", host.state).output == "[]\n")
        #expect(try holdfast("list", "--state", host.state).status == 1)
    }

    @Test func `a state is checked wherever it is, also by a name that begins here`() throws {
        let host = try Host()
        let here = FileManager.default.currentDirectoryPath
        let ups = here.split(separator: "/").map { _ in ".." }.joined(separator: "/")
        let name = ups + host.state
        #expect(try holdfast("verify", "--state", name).status == 0, "of a host that runs")
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
        let child = try holdfast("verify", "--state", name)
        #expect(child.status == 0 && child.output.contains("changes"))
        let nowhere = try holdfast("verify", "--state", "no/such/place")
        #expect(nowhere.status == 1 && nowhere.complaint.contains("no/such/place"))
    }

    @Test func `a state is checked also where its path is too long for a socket`() throws {
        let host = try Host()
        host.running.signal(SIGTERM)
        #expect(host.running.wait() == 0)
        let long = host.scratch.file(String(repeating: "x", count: 120))
        #expect(rename(host.state, long) == 0)
        let child = try holdfast("verify", "--state", long)
        #expect(child.status == 0 && child.output.contains("changes"), "\(child.complaint)")
    }

    @Test func `where no host has been, a check says so and leaves nothing`() throws {
        let scratch = try Scratch()
        let child = try holdfast("verify", "--state", scratch.path)
        #expect(child.status == 1)
        #expect(child.complaint.contains("There is no host's database in \(scratch.path)."))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }
}
