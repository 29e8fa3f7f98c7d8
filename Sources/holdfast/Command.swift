/// One thing that the program can be told to do.
struct Command: Sendable {
    let name: String
    /// What it does, in one line of the list of commands.
    let summary: String
    /// What may follow the name besides flags, as the help shows it; empty if nothing may.
    var operands = ""
    /// The words that the first operand may be, where these are known.
    var choices: [String] = []
    var flags: [Flag] = []
    /// What else is worth knowing, each in a paragraph of the help.
    var notes: [String] = []
    /// Whether it goes on until a signal ends it, and so reads signals itself.
    var awaitsSignals = false
    /// Whether it need not go on when nobody reads what it says.
    var endsUnheard = false
    let run: @Sendable (Invocation, Console) async throws(Failure) -> Void

    func flag(named name: String) -> Flag? {
        flags.first { $0.name == name }
    }
}

/// A flag of a command, without the dashes.
struct Flag: Sendable {
    let name: String
    /// The name of its value in the help; a flag without one is a switch.
    var value: String?
    /// The words that its value may be, where these are known.
    var choices: [String] = []
    var isRepeatable = false
    /// Whether an empty value says something.
    var mayBeEmpty = false
    let help: String
}

/// A command together with what was said on the command line.
struct Invocation: Sendable {
    let command: String
    var values: [String: [String]] = [:]
    var operands: [String] = []

    /// What was given last, as a later flag overrides an earlier one.
    func value(_ flag: String) -> String? { values[flag]?.last }
    func isOn(_ flag: String) -> Bool { values[flag] != nil }
}
