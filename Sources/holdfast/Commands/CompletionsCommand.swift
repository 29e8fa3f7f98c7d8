extension Command {
    static let completions = Command(
        name: "completions",
        summary: "prints the completions for a shell",
        operands: "bash|zsh|fish",
        choices: Shell.allCases.map(\.rawValue),
        run: { invocation, console throws(Failure) in
            try invocation.allow(1)
            guard !invocation.operands.isEmpty else {
                throw Failure(status: .usage, message: "Say for which shell: bash, zsh or fish.")
            }
            let shell: Shell = try invocation.word(.bash)
            console.answer(Completions(commands: Holdfast.commands).text(for: shell))
        }
    )

    static let manual = Command(
        name: "manual",
        summary: "prints the manual page, for 'man -l -'",
        run: { _, console throws(Failure) in
            console.answer(ManualPage(commands: Holdfast.commands).text)
        }
    )
}

enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// What a shell offers while a command is typed, made from the commands themselves.
struct Completions {
    let commands: [Command]

    func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private var names: String { summaries.map(\.name).joined(separator: " ") }

    private var summaries: [(name: String, summary: String)] {
        commands.map { ($0.name, $0.summary) } + [("help", "explains a command")]
    }

    private var bash: String {
        let cases = commands.map { command in
            let words = command.flags.map { "--\($0.name)" } + ["--help"] + command.choices
            return "        \(command.name):*) words=\"\(words.joined(separator: " "))\" ;;"
        }
        let values = commands.flatMap { command in
            command.flags.filter { !$0.choices.isEmpty }.map { flag in
                let words = flag.choices.joined(separator: " ")
                return "        \(command.name):--\(flag.name)) words=\"\(words)\" ;;"
            }
        }
        let flags = Set(commands.flatMap(\.flags).filter(\.takesFile).map { "--\($0.name)" })
        return """
            _holdfast() {
                local word=${COMP_WORDS[COMP_CWORD]} words
                case ${COMP_WORDS[COMP_CWORD-1]} in
                    \(flags.sorted().joined(separator: "|")))
                        COMPREPLY=($(compgen -f -- "$word")); return ;;
                esac
                if [ "$COMP_CWORD" -eq 1 ]; then
                    words="\(names) --help --version"
                else
                    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in
            \((values + cases).joined(separator: "\n"))
                    help:*) words="\(names)" ;;
                    esac
                fi
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -F _holdfast holdfast
            """
    }

    /// When zsh completes for the first time, it runs the whole text as the function, which only defines the real one.
    private var zsh: String {
        let summaries = summaries.map { "        '\($0.name):\($0.summary.quoted)'" }
        let cases = commands.map { command in
            let flags = command.flags.map { flag in
                "'\(flag.isRepeatable ? "*" : "")--\(flag.name)[\(flag.help.bracketed)]"
                    + (flag.value.map { ":\($0):\(flag.action)" } ?? "") + "'"
            }
            let choices =
                command.choices.isEmpty
                ? [] : ["'1:what:(\(command.choices.joined(separator: " ")))'"]
            let words = (flags + choices + ["'--help[shows what it does]'"]).joined(separator: " ")
            return "        \(command.name)) _arguments \(words) ;;"
        }
        return """
            #compdef holdfast
            _holdfast() {
                local -a commands=(
            \(summaries.joined(separator: "\n"))
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local name=$words[2]
                shift words
                (( CURRENT-- ))
                case $name in
            \(cases.joined(separator: "\n"))
                    help) (( CURRENT == 2 )) && _describe command commands ;;
                esac
            }
            if [ "$funcstack[1]" = _holdfast ]; then
                _holdfast "$@"
            else
                compdef _holdfast holdfast
            fi
            """
    }

    private var fish: String {
        var lines = ["complete -c holdfast -f"]
        for (name, summary) in summaries {
            lines.append(
                "complete -c holdfast -n __fish_use_subcommand -a \(name) -d '\(summary.quoted)'"
            )
        }
        lines.append(
            "complete -c holdfast -n '__fish_seen_subcommand_from help' -a '\(names)'"
        )
        for command in commands {
            let name = command.name
            let condition = "-n '__fish_seen_subcommand_from \(name)'"
            if !command.choices.isEmpty {
                let words = command.choices.joined(separator: " ")
                lines.append("complete -c holdfast \(condition) -a '\(words)'")
            }
            for flag in command.flags {
                lines.append(
                    "complete -c holdfast \(condition) -l \(flag.name)\(flag.options)"
                        + " -d '\(flag.help.quoted)'"
                )
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension Flag {
    fileprivate var takesFile: Bool { ["FILE", "DIR", "PATH"].contains(value) }

    /// How zsh finds a value.
    fileprivate var action: String {
        if takesFile { return "_files" }
        return choices.isEmpty ? "" : "(\(choices.joined(separator: " ")))"
    }

    /// What fish is told of a value.
    fileprivate var options: String {
        if value == nil { return "" }
        if takesFile { return " -r -F" }
        return choices.isEmpty ? " -x" : " -x -a '\(choices.joined(separator: " "))'"
    }
}

extension String {
    /// Inside single quotes.
    fileprivate var quoted: String { replacing("'", with: "'\\''") }
    /// Inside the brackets of zsh's descriptions as well, where colons part them.
    fileprivate var bracketed: String {
        quoted.replacing(":", with: "\\:").replacing("[", with: "(").replacing("]", with: ")")
    }
}
