import Crypto
import HTTP
import System

extension VaultAPI {
    static let generatorRoutes: [Route] = [
        .anybody(
            .get,
            "/generate",
            Description(
                "Makes a password, or a passphrase.",
                query: generatorOptions,
                answer: .string
            )
        ) { call, _ in
            .string(GeneratorWish(call).text(by: call.api.entropy))
        }
    ]

    private static let generatorOptions: [Option] = [
        Option("length", "5 to 128; 14 if it is not said."),
        .flag("uppercase", "With capital letters."),
        .flag("lowercase", "With small letters."),
        .flag("number", "With digits."),
        .flag("special", "With other signs."),
        Option("minNumber", "How many digits at least."),
        Option("minSpecial", "How many other signs at least."),
        .flag("ambiguous", "Without what is easily mistaken for something else."),
        .flag("passphrase", "Words instead of letters."),
        Option("words", "3 to 20; 6 if it is not said."),
        Option("separator", "What stands between words: a sign, `space` or `empty`."),
        .flag("capitalize", "Each word begins with a capital letter."),
        .flag("includeNumber", "With a digit behind one of the words."),
    ]
}

/// What a client wants to have generated. Numbers that are none fall back to what is usual, and
/// those that are too small or too large are drawn to the nearest that will do.
enum GeneratorWish {
    case password(PasswordRecipe)
    case passphrase(PassphraseRecipe)

    init(_ call: VaultAPI.Call) {
        self =
            call.has("passphrase")
            ? .passphrase(PassphraseRecipe(call)) : .password(PasswordRecipe(call))
    }

    func text(by chance: any Chance) -> String {
        switch self {
        case .password(let recipe): recipe.password(by: chance)
        case .passphrase(let recipe): recipe.passphrase(by: chance)
        }
    }
}

extension PasswordRecipe {
    fileprivate init(_ call: VaultAPI.Call) {
        self.init()
        length = call.number("length") ?? 14
        hasUppercase = call.has("uppercase")
        hasLowercase = call.has("lowercase")
        hasNumbers = call.has("number")
        hasSpecial = call.has("special")
        minNumbers = call.number("minNumber") ?? 1
        minSpecial = call.number("minSpecial") ?? 1
        avoidsAmbiguous = call.has("ambiguous")
    }
}

extension PassphraseRecipe {
    fileprivate init(_ call: VaultAPI.Call) {
        self.init()
        wordCount = call.number("words") ?? 6
        capitalizes = call.has("capitalize")
        includesNumber = call.has("includeNumber")
        switch call.option("separator") {
        case "space": separator = " "
        case "empty": separator = ""
        case let text?: separator = String(text.prefix(1))
        case nil: separator = "-"
        }
    }
}

extension VaultAPI.Call {
    fileprivate func number(_ name: String) -> Int? { option(name).flatMap { Int($0) } }
}
