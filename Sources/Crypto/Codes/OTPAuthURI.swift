/// The parts of an `otpauth://` URI. A parameter that makes no sense counts as missing.
struct OTPAuthURI {
    private(set) var issuer: String?
    private(set) var account: String?
    private(set) var secret = ""
    private(set) var algorithm = OneTimePassword.Algorithm.sha1
    private(set) var digits = 6
    private(set) var periodSeconds: UInt32 = 30

    /// Nil when the text, in lower case, is no such URI.
    init?(_ text: String) {
        guard text.hasPrefix("otpauth://") else { return nil }
        let uri = text.dropFirst("otpauth://".count).prefix { $0 != "#" }
        let path = uri.prefix { $0 != "?" }
        readLabel(path.drop { $0 != "/" }.dropFirst())
        for parameter in uri.dropFirst(path.count + 1).split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            read(Self.decoded(name), Self.decoded(parameter.dropFirst(name.count + 1)))
        }
    }

    /// `issuer:account`, or the account alone.
    private mutating func readLabel(_ label: Substring) {
        let label = Self.percentDecoded(label.utf8)
        guard let colon = label.firstIndex(of: ":") else {
            account = label
            return
        }
        issuer = String(label[..<colon])
        account = String(label[colon...].dropFirst().drop(while: \.isWhitespace))
    }

    private mutating func read(_ name: String, _ value: String) {
        switch name {
        case "secret": secret = value
        case "issuer": issuer = value
        case "algorithm": algorithm = Self.algorithm(value)
        case "digits": digits = UInt32(value).map { min(Int($0), 10) } ?? 6
        case "period": periodSeconds = UInt32(value).map { max($0, 1) } ?? 30
        default: break
        }
    }

    private static func algorithm(_ name: String) -> OneTimePassword.Algorithm {
        switch name {
        case "sha256": .sha256
        case "sha512": .sha512
        default: .sha1
        }
    }

    /// A query writes its blanks as plus signs.
    private static func decoded(_ text: Substring) -> String {
        percentDecoded(text.utf8.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }

    /// A percent sign that begins no byte stands for itself.
    private static func percentDecoded(_ text: some Sequence<UInt8>) -> String {
        var (bytes, rest) = ([UInt8](), Array(text)[...])
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), rest.count >= 2, let coded = Self.byte(digits) {
                bytes.append(coded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func byte(_ digits: String) -> UInt8? {
        digits.allSatisfy(\.isHexDigit) ? UInt8(digits, radix: 16) : nil
    }
}
