import Testing

@testable import Crypto

/// Both answers are the official clients' own.
struct FingerprintTests {
    private let publicKey = """
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuyYs8W7NWf0Zv35Ueco93730dtRKi4Jhc6Snar+86drE
        +ruSfaCWMcbgsAoAj2Pm6KAzaJrTIVCqBERQ23OncpzjfcGAeyf+v3w/gSw/EjihMJ4AG5ICY4hLFYcGdgwa+7is
        +TVO0i6PEWjKQa3l2+mQo2XY7pg2ngHDMssV4gxSqq+qoBX3+FBhewCYdOV+3cebwsAzz7HwoFTxKViwNW8crbHo
        nhZPhZgfIAzEkzo5MvzQg5azhLKW6vuPfaOQFC5HqPykVnh8OPzO0uzUi3+97CguAu4N2CgwVYXltZuw2fGamdVw
        3kjbxQPbOE1tL0j7gyTwYKkfUl2m8gMh1QIDAQAB
        """

    @Test func `a public key has the phrase that other clients show`() throws {
        let document = try Base64.bytes(of: publicKey.filter { !$0.isWhitespace })
        let phrase = try FingerprintPhrase(
            publicKey: document,
            userID: "a09726a0-9590-49d1-a5f5-afe300b6a515"
        )
        #expect(phrase.description == "turban-deftly-anime-chatroom-unselfish")
        let other = try FingerprintPhrase(publicKey: document, userID: "somebody-else")
        #expect(other != phrase && other.words.count == 5)
    }

    @Test func `the words are the digits of a number, the least significant first`() throws {
        let hash = try Base64.bytes(of: "V5AQSk83YXd6kZqCncC6d9J72R7UZ60Xl1eIoDoWgTc=")
        let words = hash.span.withUnsafeBytes { FingerprintPhrase.words(of: $0) }
        #expect(words == ["predefine", "hunting", "pastime", "enrich", "unhearing"])
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(
            zero.span.withUnsafeBytes { FingerprintPhrase.words(of: $0) }
                == Array(repeating: "abacus", count: 5)
        )
    }
}
