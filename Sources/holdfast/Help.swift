/// The help texts, made from the commands so that they cannot lag behind.
struct Help: Sendable {
    let commands: [Command]

    func text(_ command: Command?) -> String {
        command.map(explanation) ?? overview
    }

    private var overview: String {
        """
        Holdfast keeps an encrypted vault usable while its server is away.

        Usage: holdfast COMMAND [FLAGS]
               holdfast help COMMAND
               holdfast --version

        Commands:
        \(table((commands.map { ($0.name, $0.summary) }) + [("help", "explains a command")]))
        """
    }

    private func explanation(_ command: Command) -> String {
        let words = ["Usage: holdfast", command.name, command.operands, "[FLAGS]"]
        return """
            \(words.filter { !$0.isEmpty }.joined(separator: " "))

            \(command.name): \(command.summary)

            Flags:
            \(table(command.flags.map { ($0.usage, $0.help) } + [("--help", "shows this")]))
            """ + command.notes.map { "\n\n\($0)" }.joined()
    }

    private func table(_ rows: [(name: String, text: String)]) -> String {
        let width = (rows.map(\.name.count).max() ?? 0) + 2
        return rows.map { row in
            "  " + row.name + String(repeating: " ", count: width - row.name.count) + row.text
        }.joined(separator: "\n")
    }
}

extension Flag {
    fileprivate var usage: String {
        ["--\(name)", value ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
            + (isRepeatable ? " (repeatable)" : "")
    }
}
