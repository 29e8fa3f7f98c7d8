import JSON
import Testing

@testable import Bitwarden

struct IdentityTests {
    @Test(arguments: ["prelogin_api_path", "prelogin_password_path", "prelogin_unknown_user"])
    func `a prelogin of an older server is read`(_ name: String) throws {
        let answer = try PreloginAnswer(json: try Sample(name).body)
        #expect(answer == PreloginAnswer(settings: .usual))
    }

    @Test func `what a prelogin says in an object of its own counts`() throws {
        let answer = PreloginAnswer(
            settings: DerivationSettings(kind: 1, iterations: 6, memory: 32, parallelism: 4),
            salt: "other@example.com"
        )
        let text = """
            {"kdf":0,"kdfIterations":1,"salt":"other@example.com",
            "kdfSettings":{"kdfType":1,"iterations":6,"memory":32,"parallelism":4}}
            """
        #expect(try PreloginAnswer(json: JSON.Document(Array(text.utf8)).root) == answer)
        #expect(try PreloginAnswer(json: JSON.Document(JSON.Raw(answer)).root) == answer)
    }

    @Test func `a registration is read in both names of its keys and in the new shape`() throws {
        let finished = try Registration(
            json: #require(try Sample("register_finish").request["body"])
        )
        let legacy = try Registration(json: #require(try Sample("register_legacy").request["body"]))
        #expect(finished.wrappedUserKey.hasPrefix("2.t4XL"))
        #expect(legacy.wrappedUserKey.hasPrefix("2.jyK1"))
        #expect(finished.keys.wrappedPrivateKey.hasPrefix("2.UQBK"))
        #expect(legacy.settings == .usual)
        var again = try Registration(json: JSON.Document(JSON.Raw(finished)).root)
        #expect(again == finished)
        again.verificationToken = nil
        #expect(again != finished)
    }

    private func newShape(salt: String, iterations: Int) throws -> Registration {
        let text = """
            {"email":" User@Example.com ","keys":{"publicKey":"a","encryptedPrivateKey":"2.b"},
            "masterPasswordAuthentication":{"salt":"\(salt)","masterPasswordAuthenticationHash":"h",
              "kdf":{"kdfType":0,"iterations":5000,"memory":null,"parallelism":null}},
            "masterPasswordUnlock":{"salt":"\(salt)","masterKeyWrappedUserKey":"2.k",
              "kdf":{"kdfType":0,"iterations":\(iterations)}}}
            """
        return try Registration(json: JSON.Document(Array(text.utf8)).root)
    }

    @Test func `the new shape must say the same of both halves`() throws {
        let read = try newShape(salt: "user@example.com", iterations: 5000)
        #expect(read.masterPasswordHash == "h")
        #expect(read.settings.iterations == 5000)
        #expect(throws: JSON.Mismatch.self) {
            try newShape(salt: "User@Example.com", iterations: 5000)
        }
        #expect(throws: JSON.Mismatch.self) {
            try newShape(salt: "user@example.com", iterations: 5001)
        }
    }

    @Test func `a log-in says everything that opens the vault, from one object`() throws {
        let answer = try TokenAnswer(json: try Sample("token").body)
        let login = try #require(answer.login)
        #expect(answer.secondsLeft == 7200)
        #expect(login.unlock?.salt == "probe-1795167535@example.com")
        #expect(login.unlock?.settings == .usual)
        #expect(login.keys?.wrappedPrivateKey == login.wrappedPrivateKey)
        #expect(login.keys?.hasSecurityState == false)
        #expect(!login.mustChangePassword)
    }

    @Test(arguments: [true, false])
    func `a log-in that was written is read again`(_ isRepeated: Bool) throws {
        let answer = try TokenAnswer(json: try Sample("token_2fa_ok").body)
        let raw = Written { answer.write(to: &$0, isRepeated: isRepeated) }
        #expect(try TokenAnswer(json: JSON.Document(JSON.Raw(raw)).root) == answer)
    }

    @Test func `a refreshed token brings no keys, and an API key no refresh token`() throws {
        let refreshed = try TokenAnswer(json: try Sample("token_refresh").body)
        #expect(refreshed.login == nil)
        #expect(refreshed.refreshToken != nil)
        let byKey = try TokenAnswer(json: try Sample("token_client_credentials").body)
        #expect(byKey.login?.unlock != nil)
        #expect(byKey.refreshToken == nil)
    }

    @Test func `refusals of the token call are told apart`() throws {
        let wanted = TokenRefusal(json: try Sample("token_2fa_required").body)
        #expect(wanted == .secondFactor(SecondFactorChallenge(providers: [.authenticator])))
        for name in ["token_refresh_garbage", "token_refresh_after_stamp", "token_wrong_password"] {
            guard case .invalidGrant = TokenRefusal(json: try Sample(name).body) else {
                Issue.record("\(name) is a grant that is not worth anything.")
                continue
            }
        }
        guard
            case .other(nil, let envelope) = TokenRefusal(json: try Sample("token_2fa_wrong").body)
        else {
            Issue.record("A wrong code is no wrong password.")
            return
        }
        #expect(envelope.message?.hasPrefix("Invalid TOTP code!") == true)
    }

    @Test
    func `a refresh token that is refused in words alone is one, if they come in upstream's shape`()
        throws
    {
        let text = """
            {"message":"Invalid refresh token","error":"","error_description":"",\
            "validationErrors":{"":["Invalid refresh token"]},\
            "errorModel":{"message":"Invalid refresh token","object":"error"},"object":"error"}
            """
        let pascal = """
            {"Message":"Invalid refresh token","error":"","error_description":"","Object":"error"}
            """
        for text in [text, pascal] {
            let refusal = TokenRefusal(json: try JSON.Document(Array(text.utf8)).root)
            guard case .invalidGrant = refusal else {
                Issue.record("\(text) was read as \(refusal).")
                continue
            }
        }
        let foreign = #"{"error":"Bad Request","message":"Invalid refresh token"}"#
        guard case .other = TokenRefusal(json: try JSON.Document(Array(foreign.utf8)).root) else {
            Issue.record("Anybody on the way could have said that.")
            return
        }
    }

    @Test func `a new device is known by the code and by the words`() throws {
        for text in [
            #"{"error":"device_error","error_description":"x"}"#,
            #"{"error":"","ErrorModel":{"Message":"New Device Verification Required"}}"#,
        ] {
            let refusal = TokenRefusal(json: try JSON.Document(Array(text.utf8)).root)
            guard case .newDevice = refusal else {
                Issue.record("\(text) was read as \(refusal).")
                continue
            }
        }
    }

    @Test func `the scope of a password grant keeps its order`() throws {
        var grant = PasswordGrant(email: "a+b@example.com", masterPasswordHash: "x/y+z=")
        grant.secondFactor = SecondFactor(.authenticator, token: "123456", isRemembered: true)
        let device = Device(type: 8, identifier: "d", name: "über")
        let form = TokenRequest(.password(grant), device: device).form
        let read = try #require(Form(form.bytes))
        #expect(read == form)
        #expect(read["scope"] == "api offline_access")
        #expect(read["twoFactorRemember"] == "1")
        #expect(read["username"] == "a+b@example.com")
        #expect(read["device_name"] == "über")
    }

    @Test(arguments: ["a=%zz", "a=%4", "a=%ff"])
    func `a form with an escape that means nothing is none`(_ text: String) {
        #expect(Form(Array(text.utf8)) == nil)
    }

    @Test func `claims are read out of a token`() throws {
        let claims = try AccessClaims(json: try Sample("access_token_claims").body)
        #expect(claims.userID == "2ab013d2-157b-45b7-8d62-2dfae089e69b")
        #expect(claims.deviceType == "Linux")
        #expect(AccessClaims(token: claims.token(seal: [1, 2, 3])) == claims)
        for name in ["", "..", "../x", "a/b", "a b", String(repeating: "a", count: 65), "ä", "a\0"]
        {
            var other = claims
            other.userID = name
            #expect(AccessClaims(token: other.token(seal: [1])) == nil, "\(name)")
        }
        #expect(AccessClaims(token: "opaque") == nil)
        #expect(AccessClaims(token: "a.!!!.c") == nil)
    }
}

/// What a closure writes, as a value.
struct Written: JSON.Writable {
    let body: (inout JSON.Writer) -> Void

    init(_ body: @escaping (inout JSON.Writer) -> Void) { self.body = body }

    func write(to json: inout JSON.Writer) { body(&json) }
}
