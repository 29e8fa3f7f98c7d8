public import Crypto
public import JSON

/// What an access token says of itself. A client may read it and never checks it: that is for the
/// server that gave it.
public struct AccessClaims: Sendable, Hashable {
    public var userID: String
    /// Seconds since 1970.
    public var validFrom: Int
    public var validUntil: Int
    public var issuer: String
    public var email: String
    public var name: String?
    /// Renewed by every change of the password or the keys.
    public var securityStamp: String?
    public var deviceIdentifier: String?
    public var deviceType: String?
    public var clientID: String
    public var scope: [String]

    public init(
        userID: String,
        validFrom: Int,
        validUntil: Int,
        issuer: String,
        email: String,
        clientID: String,
        scope: [String]
    ) {
        self.userID = userID
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.issuer = issuer
        self.email = email
        self.clientID = clientID
        self.scope = scope
    }

    /// `nil` if the token is none of which the claims can be read.
    public init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard
            parts.count == 3,
            let bytes = try? Base64.bytes(ofURLText: parts[1]),
            let document = try? JSON.Document(bytes),
            let claims = try? AccessClaims(json: document.root),
            Self.isName(claims.userID)
        else { return nil }
        self = claims
    }
}

extension AccessClaims {
    /// Servers give UUIDs. Whatever they say becomes part of paths and addresses, and is not to lead elsewhere.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }
}

extension AccessClaims: JSON.Readable, JSON.Writable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        userID = try json.read("sub")
        validFrom = try json.read("nbf", as: Int?.self) ?? 0
        validUntil = try json.read("exp")
        issuer = try json.read("iss", as: String?.self) ?? ""
        email = try json.read("email", as: String?.self) ?? ""
        name = try json.read("name")
        securityStamp = try json.read("sstamp")
        deviceIdentifier = try json.read("device")
        deviceType = json["devicetype"].flatMap { $0.string ?? $0.int.map { String($0) } }
        clientID = try json.read("client_id", as: String?.self) ?? ""
        scope = try json.read("scope", as: [String]?.self) ?? []
    }

    public func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("nbf", validFrom)
            object.add("exp", validUntil)
            object.add("iss", issuer)
            object.add("sub", userID)
            object.add("premium", true)
            object.add("name", name)
            object.add("email", email)
            object.add("email_verified", true)
            object.add("sstamp", securityStamp)
            object.add("device", deviceIdentifier)
            object.add("devicetype", deviceType)
            object.add("client_id", clientID)
            object.add("scope", scope)
            object.add("amr", ["Application"])
        }
    }

    /// The token, with a seal that only its maker can check.
    public func token(seal: [UInt8]) -> String {
        let header = JSON.Raw.object {
            $0.add("typ", "JWT")
            $0.add("alg", "RS256")
        }
        let parts = [Array(header.bytes), Array(JSON.Raw(self, capacity: 512).bytes), seal]
        return parts.map(Base64.urlText(of:)).joined(separator: ".")
    }
}

extension Base64 {
    /// With the two signs that may stand in an address, and without padding.
    public static func urlText(of bytes: [UInt8]) -> String {
        var text = Array(text(of: bytes).utf8)
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            if text[index] == UInt8(ascii: "+") { text[index] = UInt8(ascii: "-") }
            if text[index] == UInt8(ascii: "/") { text[index] = UInt8(ascii: "_") }
        }
        return String(decoding: text, as: UTF8.self)
    }

    public static func bytes(ofURLText text: some StringProtocol) throws(CryptoError) -> [UInt8] {
        var plain = ""
        for character in text.unicodeScalars where character != "=" {
            switch character {
            case "-": plain.append("+")
            case "_": plain.append("/")
            default: plain.unicodeScalars.append(character)
            }
        }
        while plain.utf8.count % 4 != 0 { plain.append("=") }
        return try bytes(of: plain)
    }
}
