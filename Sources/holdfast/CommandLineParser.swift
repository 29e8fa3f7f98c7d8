/// What the command line asks for.
enum Request: Sendable {
    case version
    case help(Command?)
    case run(Command, Invocation)
}

/// Understands the words on the command line. Knows the commands, runs none.
struct CommandLineParser: Sendable {
    let commands: [Command]

    func parse(_ words: [String]) throws(Failure) -> Request {
        guard let first = words.first else {
            throw misuse("Say what to do. 'holdfast help' lists the commands.")
        }
        switch first {
        case "--version":
            return .version
        case "--help", "-h":
            return .help(nil)
        case "help":
            return .help(try topic(words.dropFirst()))
        case _ where first.hasPrefix("-"):
            throw misuse("Unknown flag \(first). 'holdfast help' lists the commands.")
        default:
            return try request(try command(named: first), words.dropFirst())
        }
    }

    private func topic(_ words: ArraySlice<String>) throws(Failure) -> Command? {
        let names = words.filter { $0 != "--help" && $0 != "-h" }
        if names.count > 1 { throw misuse("'holdfast help' explains one command at a time.") }
        guard let name = names.first else { return nil }
        return name == "help" ? nil : try command(named: name)
    }

    private func command(named name: String) throws(Failure) -> Command {
        guard let command = commands.first(where: { $0.name == name }) else {
            throw misuse("There is no command '\(name)'. 'holdfast help' lists the commands.")
        }
        return command
    }

    private func request(
        _ command: Command,
        _ words: ArraySlice<String>
    ) throws(Failure) -> Request {
        var reader = WordReader(command: command, rest: words)
        while let word = reader.rest.popFirst() {
            if reader.isHelp(word) { return .help(command) }
            try reader.take(word)
        }
        return .run(command, reader.invocation)
    }
}

/// Sorts the words behind a command into flags and operands.
private struct WordReader {
    let command: Command
    var rest: ArraySlice<String>
    var invocation: Invocation
    private var onlyOperandsFollow = false

    init(command: Command, rest: ArraySlice<String>) {
        self.command = command
        self.rest = rest
        invocation = Invocation(command: command.name)
    }

    func isHelp(_ word: String) -> Bool {
        !onlyOperandsFollow && (word == "--help" || word == "-h")
    }

    mutating func take(_ word: String) throws(Failure) {
        if onlyOperandsFollow || word == "-" || !word.hasPrefix("-") {
            try takeOperand(word)
        } else if word == "--" {
            onlyOperandsFollow = true
        } else {
            try takeFlag(word)
        }
    }

    private mutating func takeOperand(_ word: String) throws(Failure) {
        if command.operands.isEmpty {
            throw .surplus(word, to: command.name)
        }
        invocation.operands.append(word)
    }

    private mutating func takeFlag(_ word: String) throws(Failure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0].dropFirst(2))
        guard word.hasPrefix("--"), let flag = command.flag(named: name) else {
            throw misuse(
                "Unknown flag \(parts[0]). 'holdfast help \(command.name)' lists those it knows."
            )
        }
        if invocation.isOn(name), !flag.isRepeatable { throw misuse("--\(name) is given twice.") }
        invocation.values[name, default: []].append(try value(of: flag, parts.dropFirst().first))
    }

    private mutating func value(
        of flag: Flag,
        _ attached: Substring?
    ) throws(Failure) -> String {
        guard let value = flag.value else {
            if attached != nil { throw misuse("--\(flag.name) takes no value.") }
            return ""
        }
        let given = attached.map(String.init) ?? rest.popFirst()
        guard let text = given, !text.isEmpty || flag.mayBeEmpty else {
            throw misuse("--\(flag.name) wants a value: --\(flag.name) \(value).")
        }
        return text
    }
}

private func misuse(_ message: String) -> Failure {
    Failure(status: .usage, message: message)
}
