import System
import Testing

@testable import Crypto

struct EncStringTests {
    static let iv = Base64.text(of: [UInt8](repeating: 1, count: 16))
    static let block = Base64.text(of: [UInt8](repeating: 2, count: 16))
    static let mac = Base64.text(of: [UInt8](repeating: 3, count: 32))
    static let texts = [
        "0.\(iv)|\(block)", "2.\(iv)|\(block)|\(mac)", "3.\(mac)", "4.\(mac)", "5.\(mac)|\(mac)",
        "6.\(mac)|AA==", "7.\(mac)",
    ]

    @Test(arguments: texts) func `a text says of which type it is`(_ text: String) throws {
        #expect(try text.hasPrefix("\(EncString(text).kind.rawValue)."))
    }

    @Test func `a text from before there were types is of type 0`() throws {
        let old = try EncString("\(Self.iv)|\(Self.block)")
        #expect(try old == EncString(Self.texts[0]))
        #expect(throws: CryptoError.unsupported(.aes128)) {
            try EncString("\(Self.iv)|\(Self.block)|\(Self.mac)")
        }
    }

    @Test(arguments: [
        ("", CryptoError.malformed(.unknownType)),
        ("2", .malformed(.unknownType)),
        ("2.", .malformed(.unknownType)),
        ("8.AAAA", .malformed(.unknownType)),
        ("-.AAAA", .malformed(.unknownType)),
        ("02.\(iv)|\(block)|\(mac)", .malformed(.unknownType)),
        (" 2.\(iv)|\(block)|\(mac)", .malformed(.unknownType)),
        ("1.\(iv)|\(block)|\(mac)", .unsupported(.aes128)),
        ("2.\(iv)|\(block)", .malformed(.pieceCount)),
        ("2.\(iv)|\(block)|\(mac)|\(mac)", .malformed(.pieceCount)),
        ("2.2.\(iv)|\(block)|\(mac)", .malformed(.base64)),
        ("2.\(block)\(iv)|\(block)|\(mac)", .malformed(.base64)),
        ("2.\(mac)|\(block)|\(mac)", .malformed(.ivLength)),
        ("2.\(iv)||\(mac)", .malformed(.ciphertextLength)),
        ("2.\(iv)|AAAA|\(mac)", .malformed(.ciphertextLength)),
        ("2.\(iv)|\(block)|\(block)", .malformed(.macLength)),
        ("2.\(iv)|\(block)|", .malformed(.macLength)),
    ]) func `what is malformed is refused by its flaw`(_ text: String, _ error: CryptoError) {
        #expect(throws: error) { try EncString(text) }
    }

    @Test(arguments: [
        "AQ", "AQ=", "AQ=A", "AQ===", "A===", "====", "AR==", "AQI", "AQJ=", "A=Q=", "=AQI",
        " AQ==",
        "AQ== ", "AQ==\n", "AQ\n==", "AQ==AQ==", "A-_=", "AQIé", "AQI\0",
    ]) func `base64 has one form only`(_ text: String) {
        #expect(throws: CryptoError.malformed(.base64)) { try Base64.bytes(of: text) }
        #expect(throws: CryptoError.self) { try EncString("2.\(Self.iv)|\(Self.block)|\(text)") }
    }

    @Test(arguments: [
        ("2.AAAA|BBBB|CCCC", true), ("2.\(mac)|\(block)|\(iv)", true), ("0.AAAA|BBBB", true),
        ("1.AAAA|BBBB|CCCC", true), ("7.AAAA", true), ("", false), ("2.", false), ("2.||", false),
        ("2.AAAA|BBBB", false), ("2.AAA|BBBB|CCCC", false), ("02.AAAA|BBBB|CCCC", false),
        ("8.AAAA", false), ("1.Password", false), ("2. milk", false), ("AAAA|BBBB", false),
    ]) func `what is encrypted is known by its form, however damaged`(
        _ text: String,
        _ hasForm: Bool
    ) {
        #expect(EncString.hasForm(text) == hasForm)
    }

    @Test func `base64 comes back as it went`() throws {
        let chance = SeededChance(seed: 11)
        for count in 0..<200 {
            let bytes = Secret(random: count, from: chance).revealedBytes()
            #expect(try Base64.bytes(of: Base64.text(of: bytes)) == bytes)
        }
    }

    @Test func `a text of more than 64 MiB is refused before it is looked at`() {
        let huge = "2." + String(repeating: "A", count: EncStringLayout.longest)
        #expect(throws: CryptoError.tooLong(limit: EncStringLayout.longest)) { try EncString(huge) }
    }

    @Test func `its description shows nothing of it`() throws {
        #expect("\(try EncString(Self.texts[1]))" == "EncString of type 2")
    }
}
