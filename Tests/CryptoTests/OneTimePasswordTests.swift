import Testing

@testable import Crypto

struct OneTimePasswordTests {
    private let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    private func code(_ parameters: String, at now: Int64 = 59) throws -> String {
        try OneTimePassword("otpauth://totp/rfc?secret=\(secret)\(parameters)").code(atSeconds: now)
    }

    /// RFC 6238 at 59 seconds: 31 bits that read 1094287082 in full.
    @Test(arguments: [
        (0, "0"), (1, "2"), (2, "82"), (3, "082"), (4, "7082"), (5, "87082"), (6, "287082"),
        (7, "4287082"), (8, "94287082"), (9, "094287082"), (10, "1094287082"), (11, "1094287082"),
    ]) func `a code has as many digits as it should, ten at most`(_ digits: Int, _ expected: String)
        throws
    {
        #expect(try code("&digits=\(digits)") == expected)
    }

    @Test(arguments: [
        "&digits=", "&digits=six", "&digits=-1", "&digits=99999999999", "&period=thirty",
        "&algorithm=md5", "&algorithm=", "&algorithm=SHA1", "#fragment", "&", "&&=&x", "&%zz=%",
    ]) func `a parameter that makes no sense counts as missing`(_ parameter: String) throws {
        #expect(try code(parameter) == "287082")
    }

    @Test func `a period of nothing is one second`() throws {
        let password = try OneTimePassword("otpauth://totp/x?secret=\(secret)&period=0")
        #expect(password.periodSeconds == 1)
        #expect(try password.code(atSeconds: 1) == code("", at: 59))
    }

    @Test func `a code holds until its period ends`() throws {
        #expect(try code("", at: 30) == code("", at: 59))
        #expect(try code("", at: 60) != code("", at: 59))
        let password = try OneTimePassword(secret)
        #expect(try password.code(atSeconds: -1) == password.code(atSeconds: 0))
    }

    @Test(arguments: [
        "", "  ", "=", "a", "steam://", "otpauth://totp/x", "otpauth://totp/x?secret=",
        "otpauth://",
    ])
    func `without a secret there is no code`(_ text: String) {
        #expect(refusal { () throws(CryptoError) in try OneTimePassword(text) } == .noSecret)
    }

    @Test func `steam codes have five characters of their own alphabet`() throws {
        let password = try OneTimePassword("steam://\(secret)")
        for now in stride(from: Int64(0), to: 30_000, by: 30) {
            let code = try password.code(atSeconds: now)
            #expect(code.count == 5)
            #expect(code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) })
        }
    }

    @Test func `the secret may be written in groups and with blanks as plus signs`() throws {
        let grouped = "gezd gnbv gy3t qojq gezd gnbv gy3t qojq"
        #expect(try OneTimePassword(grouped).code(atSeconds: 59) == "287082")
        let query = grouped.split(separator: " ").joined(separator: "+")
        #expect(
            try OneTimePassword("otpauth://totp/x?secret=\(query)").code(atSeconds: 59) == "287082"
        )
    }
}
