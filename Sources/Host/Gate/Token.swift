import Crypto
import FoundationEssentials
public import JSON
import Vault

/// A token of the API, as it is kept: whoever reads the file learns no token from it.
struct Token: Hashable, Sendable {
    let id: String
    let scope: Caller.Scope
    /// The only account that it opens; nil for all.
    let accountID: String?
    let created: Date
    /// SHA-256 of the text. No salt and no stretching: the text is 32 bytes of chance.
    let digest: [UInt8]

    var caller: Caller { Caller(scope, accountID: accountID) }
}

/// A token that was just made. Its text is shown once and kept nowhere.
struct FreshToken: Sendable {
    let text: String
    let token: Token

    init(_ scope: Caller.Scope, accountID: String?, at moment: Date, from entropy: any Entropy) {
        let secret = Secret(random: 32, from: entropy).revealedBytes()
        let name = Secret(random: 8, from: entropy).revealedBytes()
        text = "hf_" + Base64.text(of: secret).inAddress
        token = Token(
            id: name.hex,
            scope: scope,
            accountID: accountID,
            created: moment,
            digest: Digest.sha256(Array(text.utf8))
        )
    }
}

extension Token: JSON.Writable, JSON.Readable {
    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("id", id)
            $0.add("scope", scope.rawValue)
            $0.add("account", accountID)
            $0.add("created", created.isoText)
            $0.add("sha256", digest.hex)
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        scope = try json.read("scope")
        accountID = try json.read("account")
        let moment: String = try json.read("created")
        guard let created = Revision(moment) else {
            throw JSON.Mismatch("must be a date", at: ["created"])
        }
        self.created = created.moment.date
        let text: String = try json.read("sha256")
        guard let digest = [UInt8](hex: text), digest.count == 32 else {
            throw JSON.Mismatch("must be a SHA-256 in hexadecimal", at: ["sha256"])
        }
        self.digest = digest
    }
}

extension Caller.Scope: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let scope = Self(rawValue: try String(json: json)) else {
            throw JSON.Mismatch("must be admin, write or read")
        }
        self = scope
    }
}

extension [UInt8] {
    var hex: String {
        map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined()
    }

    init?(hex text: String) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        self = stride(from: 0, to: values.count, by: 2).map { start in
            UInt8(values[start] << 4 | values[start + 1])
        }
    }
}
