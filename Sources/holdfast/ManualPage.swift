/// The manual page in the language of man, made from the commands so that it cannot lag behind.
struct ManualPage {
    let commands: [Command]

    var text: String {
        """
        .TH HOLDFAST 1 "" "holdfast \(Holdfast.version)" "User Commands"
        .SH NAME
        holdfast \\- keeps an encrypted vault usable while its server is away
        .SH SYNOPSIS
        .B holdfast
        .I COMMAND
        [\\fIFLAGS\\fR]
        .br
        .B holdfast help
        .I COMMAND
        .SH DESCRIPTION
        Holdfast keeps the vaults of Bitwarden compatible servers on this machine, encrypted, serves
        them over the API of \\fBbw serve\\fR, keeps edits that are made while the server is away, and
        brings them there when it is back.
        .SH COMMANDS
        \(commands.map(section).joined(separator: "\n"))
        .SH EXIT STATUS
        .TP
        .B 0
        It was done.
        .TP
        .B 1
        It failed; the message says why.
        .TP
        .B 64
        It was called in a way that makes no sense.
        .TP
        .B 69
        No host is running.
        .TP
        .B 77
        It is not allowed.
        """
    }

    private func section(_ command: Command) -> String {
        let operands = command.operands.isEmpty ? "" : " \\fI\(command.operands.escaped)\\fR"
        let flags = command.flags.map { flag in
            """
            .TP
            \\fB\\-\\-\(flag.name.escaped)\\fR\(flag.value.map { " \\fI\($0)\\fR" } ?? "")
            \(flag.help.escaped)
            """
        }
        let heading = ".SS \"holdfast \(command.name)\(operands)\""
        let notes = command.notes.map { ".PP\n" + $0.escaped }
        return ([heading, command.summary.sentence.escaped] + flags + notes).joined(separator: "\n")
    }
}

extension String {
    /// What man would take for its own is marked as text.
    fileprivate var escaped: String {
        let text = replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }

    fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
