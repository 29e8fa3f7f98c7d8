import Crypto
import HTTP
import JSON
import System
import Vault

/// What a route is given: the request, whole, and what is passed in from outside.
struct Call: Sendable {
    let method: Method
    let target: Target
    var parameters: [String] = []
    let headers: Headers
    let body: [UInt8]
    let personality: Personality
    /// What the server's clock says.
    var now: Moment
    private(set) var chance: any Entropy
    /// The address that the client knows the server by.
    let origin: String
    var session: Session?

    /// The user who asks; only asked for in routes that want one.
    var userID: String { session?.userID ?? "" }

    /// The device that acts, as others are told. One of the servers believes the client's own word.
    var deviceID: String? {
        let said = personality.wantsVersionHeader ? headers["Device-Identifier"] : nil
        return said ?? session?.deviceID
    }

    func json() throws(Refusal) -> JSON.Value {
        do throws(JSON.Failure) {
            return try JSON.Document(body).root
        } catch {
            throw .badJSON
        }
    }

    func read<Wanted: JSON.Readable>(_ type: Wanted.Type = Wanted.self) throws(Refusal) -> Wanted {
        let json = try json()
        do throws(JSON.Mismatch) {
            return try Wanted(json: json)
        } catch {
            throw .badShape(error.description)
        }
    }

    /// A parameter that must be an id.
    func id(_ position: Int = 0) throws(Refusal) -> String {
        let text = parameters[position].lowercased()
        guard text.isUUID else { throw .badUUID }
        return text
    }

    /// The same call; whatever it makes gets the ids that follow from the seed.
    func drawing(from seed: UInt64) -> Call {
        var call = self
        call.chance = SeededChance(seed: seed)
        return call
    }

    func newID() -> String { UUIDText.make(chance) }

    func newSecret(count: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<count).map { _ in alphabet[chance.number(in: 0..<alphabet.count)] })
    }
}

enum UUIDText {
    /// Of version 4, in lower case.
    static func make(_ chance: some Entropy) -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.withUnsafeMutableBytes(chance.fill)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digit(byte >> 4))
            text.append(digit(byte & 0x0F))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension String {
    var isUUID: Bool {
        utf8.count == 36
            && utf8.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
            }
    }
}
