import Testing

@testable import holdfast

struct CommandLineParserTests {
    private let parser = CommandLineParser(commands: [
        Command(
            name: "keep",
            summary: "keeps things",
            operands: "[THING...]",
            flags: [
                Flag(name: "state", value: "DIR", help: "where"),
                Flag(name: "listen", value: "ADDR", isRepeatable: true, help: "at which address"),
                Flag(name: "search", value: "TEXT", mayBeEmpty: true, help: "for what"),
                Flag(name: "json", help: "for programs"),
            ],
            run: { _, _ in }
        ),
        Command(name: "rest", summary: "does nothing", run: { _, _ in }),
    ])

    private func invocation(_ words: String...) throws -> Invocation {
        guard case .run(_, let invocation) = try parser.parse(words) else {
            throw Failure(status: .failure, message: "\(words) did not ask for a command.")
        }
        return invocation
    }

    private func complaint(_ words: String...) -> Failure? {
        do {
            _ = try parser.parse(words)
            return nil
        } catch {
            return error
        }
    }

    @Test func `flags and operands may stand in any order`() throws {
        let invocation = try invocation("keep", "a", "--state", "/tmp", "b", "--json")
        #expect(invocation.value("state") == "/tmp")
        #expect(invocation.isOn("json"))
        #expect(invocation.operands == ["a", "b"])
    }

    @Test func `a value may be attached with an equals sign and may contain one`() throws {
        #expect(try invocation("keep", "--state=a=b").value("state") == "a=b")
    }

    @Test func `a value is empty only where that says something`() throws {
        #expect(try invocation("keep", "--search=").value("search") == "")
        #expect(try invocation("keep", "--search", "").value("search") == "")
        #expect(complaint("keep", "--state=")?.status == .usage)
        #expect(complaint("keep", "--state", "", "--json")?.message.contains("--state DIR") == true)
    }

    @Test func `a value may look like a flag`() throws {
        #expect(try invocation("keep", "--state", "--json").value("state") == "--json")
    }

    @Test func `two dashes end the flags`() throws {
        let invocation = try invocation("keep", "--", "--json", "--help")
        #expect(!invocation.isOn("json"))
        #expect(invocation.operands == ["--json", "--help"])
    }

    @Test func `a single dash is an operand`() throws {
        #expect(try invocation("keep", "-").operands == ["-"])
    }

    @Test func `only a repeatable flag may be given twice`() throws {
        let addresses = try invocation("keep", "--listen", "a", "--listen=b").values["listen"]
        #expect(addresses == ["a", "b"])
        #expect(complaint("keep", "--state=a", "--state=b")?.message == "--state is given twice.")
    }

    @Test(arguments: [
        ["keep", "--nope"], ["keep", "---json"], ["keep", "-x"], ["keep", "-json"],
        ["keep", "--state"],
        ["keep", "--json=yes"], ["rest", "operand"], ["nothing"], ["--nope"], [],
        ["help", "nothing"], ["help", "keep", "rest"],
    ])
    func `a misuse is refused with status 64 and one line`(_ words: [String]) {
        do {
            _ = try parser.parse(words)
            Issue.record("\(words) was understood.")
        } catch {
            #expect(error.status.rawValue == 64)
            #expect(!error.message.isEmpty && !error.message.contains("\n"))
        }
    }

    @Test func `the complaint about an unknown flag names it without its value`() {
        let message = complaint("keep", "--password=hunter2")?.message
        #expect(message?.contains("--password") == true)
        #expect(message?.contains("hunter2") == false)
    }

    @Test(arguments: [["keep", "--help"], ["keep", "--json", "-h"], ["help", "keep"]])
    func `help for a command is asked for in every place`(_ words: [String]) throws {
        guard case .help(let command?) = try parser.parse(words) else {
            Issue.record("\(words) did not ask for help.")
            return
        }
        #expect(command.name == "keep")
    }

    @Test func `the overview lists every command`() {
        let text = Help(commands: parser.commands).text(nil)
        for command in parser.commands { #expect(text.contains(command.summary)) }
    }

    @Test func `the help of a command lists every flag with its value`() {
        let text = Help(commands: parser.commands).text(parser.commands[0])
        #expect(text.contains("Usage: holdfast keep [THING...] [FLAGS]"))
        #expect(text.contains("--state DIR"))
        #expect(text.contains("--listen ADDR (repeatable)"))
    }
}
