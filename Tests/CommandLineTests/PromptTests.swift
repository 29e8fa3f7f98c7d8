import HTTP
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

    @Test func `without a terminal it is said how else to give a password`() async throws {
        let host = try ScriptedHost()
        let running = try Running(program, ["unlock", "--socket", host.socket])
        #expect(running.wait() == 64)
        #expect(try running.complaint.contains("--password-file"))
        #expect(host.asked.isEmpty)
        await host.close()
    }
}
