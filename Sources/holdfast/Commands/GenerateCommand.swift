import HTTP
import JSON

extension Command {
    static let generate = Command(
        name: "generate",
        summary: "makes a password, or a passphrase",
        flags: HostLine.accountFlags + wishes.map(\.value),
        run: { invocation, console throws(Failure) in
            var query: [(name: String, value: String)] = []
            for (name, flag) in wishes where invocation.isOn(flag.name) {
                query.append((name, try invocation.wish(flag)))
            }
            let answer = try await HostLine(invocation).ask(.get, "/generate", query)
            Showing(invocation, console).words(answer.data?.shown("data") ?? "", answer.json)
        }
    )

    /// What it may be asked to be like, by the host's names.
    private static let wishes: KeyValuePairs = [
        "length": Flag(name: "length", value: "N", help: "how many signs, 5 to 128 (14)"),
        "uppercase": Flag(name: "uppercase", help: "with capital letters"),
        "lowercase": Flag(name: "lowercase", help: "with small letters"),
        "number": Flag(name: "number", help: "with digits"),
        "special": Flag(
            name: "special",
            help: "with other signs; if no kind is named, without them"
        ),
        "minNumber": Flag(name: "min-number", value: "N", help: "how many digits at least (1)"),
        "minSpecial": Flag(
            name: "min-special",
            value: "N",
            help: "how many other signs at least (1)"
        ),
        "ambiguous": Flag(
            name: "ambiguous",
            help: "without what is easily mistaken for something else"
        ),
        "passphrase": Flag(name: "passphrase", help: "words instead of signs"),
        "words": Flag(name: "words", value: "N", help: "how many words, 3 to 20 (6)"),
        "separator": Flag(
            name: "separator",
            value: "SIGN",
            mayBeEmpty: true,
            help: "what stands between words: a sign, space or empty (-)"
        ),
        "capitalize": Flag(name: "capitalize", help: "each word begins with a capital letter"),
        "includeNumber": Flag(name: "include-number", help: "with a digit behind one of the words"),
    ]
}

extension Invocation {
    /// What was said of a flag, in the host's words.
    fileprivate func wish(_ flag: Flag) throws(Failure) -> String {
        guard let kind = flag.value, let text = value(flag.name) else { return "true" }
        guard kind != "N" || Int(text) != nil else {
            throw Failure(
                status: .usage,
                message: "--\(flag.name) wants a whole number, not '\(text)'."
            )
        }
        return text.isEmpty ? "empty" : text
    }
}
