import Glibc
import System
import TestSupport
import Testing

@testable import holdfast

/// What is made from the table of commands: completions and the manual page.
struct DescriptionTests {
    private func completion(of words: [String]) throws -> [String] {
        let script = """
            \(Completions(commands: Holdfast.commands).text(for: .bash))
            COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))
            COMP_CWORD=\(words.count - 1)
            _holdfast
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let child = try Child.run("bash", ["-eu", "-c", script])
        #expect(child.status == 0 && child.complaint.isEmpty)
        return child.output.split(separator: "\n").map(String.init)
    }

    @Test func `bash completes commands, their flags and their words`() throws {
        #expect(try completion(of: ["holdfast", "lo"]) == ["load", "login", "logout", "lock"])
        #expect(try completion(of: ["holdfast", "list", "fo"]) == ["folders"])
        #expect(try completion(of: ["holdfast", "serve", "--sync"]) == ["--sync-interval"])
        #expect(try completion(of: ["holdfast", "help", "tok"]) == ["token"])
        #expect(try completion(of: ["holdfast", "get", "--state", "/et"]) == ["/etc"])
    }

    @Test(.enabled(if: access("/usr/bin/zsh", X_OK) == 0))
    func `zsh completes from the first time on, whether it loads the text by itself or is told to`()
        throws
    {
        let scratch = try Scratch()
        let text = Completions(commands: Holdfast.commands).text(for: .zsh)
        try Files.replace(scratch.file("_holdfast"), with: Array(text.utf8))
        let script = """
            fpath=('\(scratch.path)' $fpath)
            autoload -Uz _holdfast
            compdef() { print "$1 of $2" }
            _describe() { print "${(P)2}" }
            _arguments() { print -l -- "$@" }
            words=(holdfast '') CURRENT=2
            _holdfast
            words=(holdfast help '') CURRENT=3
            _holdfast
            words=(holdfast lock '') CURRENT=3
            _holdfast
            source '\(scratch.file("_holdfast"))'
            """
        let child = try Child.run("zsh", ["-f", "-c", script])
        #expect(child.status == 0 && child.complaint.isEmpty)
        let lines = child.output.split(separator: "\n").map(String.init)
        let offered = lines.filter { $0.contains("lock:forgets the keys") }
        #expect(offered.count == 2, "The commands, and those that help is there for.")
        #expect(lines.contains { $0.hasPrefix("--account[") })
        #expect(lines.last == "_holdfast of holdfast")
    }

    @Test(arguments: [
        ("token create --scope", ["read", "write", "admin"]),
        ("serve --abort-policy", ["whole", "item"]),
        ("demo --log-level", ["debug", "info", "notice", "warning", "error"]),
        ("serve --log-format", ["text", "json"]),
        ("serve --offline-changes", ["on", "off", "server"]),
        ("serve --resolution", ["on", "off", "server"]),
        ("upstream --profile", ["bitwarden", "vaultwarden"]),
        ("simulate --profile", ["bitwarden", "vaultwarden", "both"]),
    ])
    func `behind a flag, the words of its value are offered`(
        _ line: String,
        _ values: [String]
    ) throws {
        let words = ["holdfast"] + line.split(separator: " ").map(String.init)
        #expect(try completion(of: words + [""]) == values)
        let last = try #require(values.last)
        #expect(try completion(of: words + [String(last.dropLast())]).contains(last))
        let all = values.joined(separator: " ")
        let texts = Shell.allCases.map { Completions(commands: Holdfast.commands).text(for: $0) }
        #expect(texts.allSatisfy { $0.contains(all) })
    }

    @Test(arguments: Shell.allCases)
    func `every command and every flag is offered`(_ shell: Shell) {
        let text = Completions(commands: Holdfast.commands).text(for: shell)
        for command in Holdfast.commands {
            #expect(text.contains(command.name))
            for flag in command.flags { #expect(text.contains(flag.name)) }
        }
    }

    @Test(arguments: ["serve", "demo"])
    func `the help of a host tells of proxies, names and lists, and so does the manual`(
        _ name: String
    ) throws {
        let command = try #require(Holdfast.commands.first { $0.name == name })
        let help = Help(commands: Holdfast.commands).text(command)
        let manual = ManualPage(commands: Holdfast.commands).text
        for word in ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "*:PORT", "commas"] {
            #expect(help.contains(word) && manual.contains(word), "\(word)")
        }
    }

    @Test(arguments: Holdfast.commands)
    func `the help of a command names the words that may stand behind it`(_ command: Command) {
        let help = Help(commands: Holdfast.commands).text(command)
        let words = help.split(separator: "\n").first?.split { " []|".contains($0) } ?? []
        for choice in command.choices { #expect(words.contains { $0 == choice }, "\(choice)") }
    }

    @Test func `the manual page has every command and every flag`() {
        let lines = ManualPage(commands: Holdfast.commands).text.split(separator: "\n")
        #expect(lines.first?.hasPrefix(".TH HOLDFAST 1") == true)
        for command in Holdfast.commands {
            #expect(lines.contains { $0.hasPrefix(".SS \"holdfast \(command.name)") })
            for flag in command.flags {
                let name = flag.name.replacing("-", with: "\\-")
                #expect(lines.contains { $0.hasPrefix("\\fB\\-\\-\(name)\\fR") })
            }
        }
    }
}
