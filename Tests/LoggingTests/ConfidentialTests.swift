import FoundationEssentials
import Logging
import Testing

/// A secret is planted, and everything that makes text is let loose on it.
struct SecretTests {
    private static let marker = "correct horse battery staple"

    private struct Credentials: Sendable {
        var email = "demo@example.org"
        var password = Confidential(SecretTests.marker)
        var tokens = ["access": Confidential(SecretTests.marker)]
        var last: Confidential<String>? = Confidential(SecretTests.marker)
    }

    private struct Refused: Error { var credentials = Credentials() }

    @Test func `no text that is made of a secret shows it`() {
        let secret = Confidential(Self.marker)
        var dumped = ""
        dump(secret, to: &dumped)
        dump(Credentials(), to: &dumped)
        var printed = ""
        print(secret, Credentials(), [secret], Refused(), to: &printed)
        debugPrint(secret, Credentials(), [secret], to: &printed)

        let texts = [
            dumped, printed, "\([secret])", "\(Credentials())", "\(Refused())",
            String(describing: secret),
            String(reflecting: secret), String(reflecting: Credentials()), secret.description,
            secret.debugDescription, "\(Optional(secret) as Any)", "\(secret as Any)",
            String(describing: Mirror(reflecting: secret)),
            Mirror(reflecting: secret).children.map { "\($0)" }.joined(),
            "\(Result<Int, Refused>.failure(Refused()))", Refused().localizedText,
        ]
        for text in texts { #expect(!text.contains(Self.marker)) }
        #expect(String(describing: secret) == "‹secret›")
        #expect(secret.reveal() == Self.marker)
    }

    @Test(arguments: LogFormat.allCases)
    func `no line shows a secret, not even in an error`(_ format: LogFormat) {
        let desk = Desk(format)
        desk.log.error("Refused.", because: Refused())
        desk.log.error("Refused.", ["text": "\(Credentials())"])
        #expect(desk.shelf.lines.count == 2)
        for line in desk.shelf.lines {
            #expect(!line.contains(Self.marker))
            #expect(line.contains("‹secret›"))
        }
    }

    @Test func `a secret is nothing that could be a field, be encoded or be compared`() {
        let secret: Any = Confidential(Self.marker)
        #expect(!(secret is any LogField))
        #expect(!(secret is any Encodable))
        #expect(!(secret is any Equatable))
    }
}

extension Error {
    fileprivate var localizedText: String { String(reflecting: self) }
}
