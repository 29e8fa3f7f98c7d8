import Glibc
import HTTP
import System
import TestSupport
import Testing

/// How the program asks a person for a password, at a terminal of its own.
struct PromptTests {
    private let program = Child.productsDirectory + "/holdfast"

    @Test func `a password is asked for and not shown`() async throws {
        let host = try ScriptedHost()
        let terminal = try Terminal()
        let running = try Running(
            program,
            ["unlock", "--socket", host.socket],
            terminal: terminal.path
        )
        #expect(terminal.screen(until: "Master password: ").hasSuffix("Master password: "))
        #expect(!terminal.echoes)
        terminal.type("wrong\u{15}s3crét\n")
        #expect(running.wait() == 0)
        #expect(host.asked == [.init(line: "POST /unlock", body: #"{"password":"s3crét"}"#)])
        let screen = terminal.screen(until: "\n")
        #expect(!screen.contains("s3cr") && !screen.contains("wrong"))
        #expect(terminal.echoes)
        await host.close()
    }

    @Test func `whoever gives up gets the terminal back as it was`() async throws {
        let host = try ScriptedHost()
        let terminal = try Terminal()
        let running = try Running(
            program,
            ["unlock", "--socket", host.socket],
            terminal: terminal.path
        )
        _ = terminal.screen(until: "Master password: ")
        terminal.type("half\u{3}")
        #expect(running.wait() == 1)
        #expect(terminal.echoes)
        #expect(try running.complaint.contains("Nothing was entered."))
        #expect(host.asked.isEmpty)
        await host.close()
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130)])
    func `whoever ends it with a signal gets the terminal back as it was`(
        _ signal: Int32,
        _ status: Int
    ) async throws {
        let host = try ScriptedHost()
        let terminal = try Terminal()
        // The shell outlives it: with the last who has the terminal, that would be reset anyway.
        let script = """
            trap : TERM HUP INT
            "$1" unlock --socket "$2"
            echo "ended $?" > /dev/tty
            read -r line < /dev/tty
            """
        let running = try Running(
            "/bin/sh",
            ["-c", script, "sh", program, host.socket],
            terminal: terminal.path
        )
        _ = terminal.screen(until: "Master password: ")
        #expect(!terminal.echoes)
        kill(-running.pid, signal)
        #expect(terminal.screen(until: "ended \(status)").contains("ended \(status)"))
        #expect(terminal.echoes)
        terminal.type("\n")
        running.wait()
        #expect(host.asked.isEmpty)
        await host.close()
    }

    @Test(arguments: ["-", "/dev/stdin", "/proc/self/fd/0"])
    func `a password on standard input is read from where that stands`(
        _ name: String
    ) async throws {
        let host = try ScriptedHost()
        let scratch = try Scratch()
        try Files.replace(scratch.file("input"), with: Array("first\nsecond\n".utf8))
        let script = #"read -r line; exec "$1" unlock --socket "$2" --password-file "$3""#
        func run(_ input: String) throws -> Child {
            let words = [program, host.socket, name, scratch.file("input")]
            return try Child.run(
                "/bin/bash",
                ["-c", "{ \(script); } \(input)", "bash"] + words
            )
        }
        #expect(try run(#"< "$4""#).status == 0)
        #expect(host.asked == [.init(line: "POST /unlock", body: #"{"password":"second"}"#)])
        let closed = try run("<&-")
        #expect(closed.status == 1)
        #expect(closed.complaint.contains("standard input is closed"))
        let lines = closed.complaint.split(separator: "\n").filter { $0.hasPrefix("holdfast: ") }
        #expect(lines.count == 1)
        await host.close()
    }

    @Test func `without a terminal it is said how else to give a password`() async throws {
        let host = try ScriptedHost()
        let running = try Running(program, ["unlock", "--socket", host.socket])
        #expect(running.wait() == 64)
        #expect(try running.complaint.contains("--password-file"))
        #expect(try running.complaint.contains("holdfast.password"))
        #expect(host.asked.isEmpty)
        await host.close()
    }

    private static let challenge = Response.text(
        #"{"success":false,"message":"A code is wanted.","twoFactorProviders":[1,0]}"#,
        status: Status(rawValue: 400)
    )

    @Test func `a second step is asked for when the server wants one`() async throws {
        let host = try ScriptedHost { question in
            question.body.contains("twoFactorToken")
                ? .envelope(#"{"email":"a@b.c"}"#) : Self.challenge
        }
        let terminal = try Terminal()
        let running = try Running(
            program,
            ["login", "a@b.c", "--socket", host.socket],
            terminal: terminal.path
        )
        let first = terminal.screen(until: "Master password of a@b.c: ")
        #expect(!terminal.echoes)
        terminal.type("s3cret\n")
        let second = terminal.screen(until: "Code of the authenticator app: ")
        #expect(!terminal.echoes)
        terminal.type("123456\n")
        #expect(running.wait() == 0)
        #expect(
            host.asked.map(\.body) == [
                #"{"email":"a@b.c","password":"s3cret"}"#,
                """
                {"email":"a@b.c","password":"s3cret","twoFactorToken":"123456","twoFactorProvider":0}
                """,
            ]
        )
        #expect(!(first + second + terminal.screen(until: "\n")).contains("s3cret"))
        #expect(terminal.echoes)
        await host.close()
    }

    @Test func `a code that is wrong is not asked for again and again`() async throws {
        let host = try ScriptedHost { _ in Self.challenge }
        let terminal = try Terminal()
        let words = [
            "login", "a@b.c", "--socket", host.socket, "--password-env", "HOLDFAST_SECRET",
        ]
        let environment = ["HOLDFAST_SECRET": "s3cret"]
        let running = try Running(
            program,
            words,
            environment: environment,
            terminal: terminal.path
        )
        _ = terminal.screen(until: "Code of the authenticator app: ")
        terminal.type("1\n")
        #expect(running.wait() == 1)
        #expect(try running.complaint.contains("A code is wanted."))
        #expect(host.asked.count == 2)
        let given = try Running(
            program,
            words + ["--two-factor-token", "2", "--two-factor-provider", "3"],
            environment: environment
        )
        #expect(given.wait() == 1)
        #expect(host.asked.count == 3)
        #expect(
            host.asked.last?.body.contains(#""twoFactorToken":"2","twoFactorProvider":3"#) == true
        )
        await host.close()
    }

    @Test func `the code for a new device is asked for, or has to be given`() async throws {
        let host = try ScriptedHost { question in
            question.body.contains(#""newDeviceOtp":"77""#)
                ? .envelope(#"{"email":"a@b.c"}"#)
                : .text(
                    #"{"success":false,"message":"A new device.","needsNewDeviceOtp":true}"#,
                    status: Status(rawValue: 400)
                )
        }
        let terminal = try Terminal()
        let words = [
            "login", "a@b.c", "--socket", host.socket, "--password-env", "HOLDFAST_SECRET",
        ]
        let environment = ["HOLDFAST_SECRET": "s3cret"]
        let asked = try Running(program, words, environment: environment, terminal: terminal.path)
        _ = terminal.screen(until: "Code that the server has mailed to a@b.c: ")
        terminal.type("77\n")
        #expect(asked.wait() == 0)
        let unasked = try Running(program, words, environment: environment)
        #expect(unasked.wait() == 64)
        #expect(try unasked.complaint.contains("--new-device-code"))
        let given = try Running(
            program,
            words + ["--new-device-code", "77"],
            environment: environment
        )
        #expect(given.wait() == 0)
        await host.close()
    }
}
