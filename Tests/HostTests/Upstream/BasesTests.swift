import Testing

@testable import Host

struct BasesTests {
    @Test(arguments: [
        "bitwarden.com", "https://bitwarden.com", "vault.bitwarden.com",
        "https://vault.bitwarden.com/#/login", "HTTPS://API.BITWARDEN.COM/",
    ])
    func `the cloud has hosts of its own for each part`(_ address: String) throws {
        let bases = try Bases(address)
        #expect(bases.api == "https://api.bitwarden.com")
        #expect(bases.identity == "https://identity.bitwarden.com")
        #expect(bases.hub == "wss://notifications.bitwarden.com/hub")
    }

    @Test func `the cloud in Europe is another`() throws {
        #expect(try Bases("bitwarden.eu").api == "https://api.bitwarden.eu")
    }

    @Test func `another server has all parts below one base, perhaps below a path`() throws {
        let bases = try Bases("https://vault.example:8443/vw/")
        #expect(bases.api == "https://vault.example:8443/vw/api")
        #expect(bases.identity == "https://vault.example:8443/vw/identity")
        #expect(bases.hub == "wss://vault.example:8443/vw/notifications/hub")
        #expect(try Bases("vault.example").server == "https://vault.example")
        #expect(try Bases("http://127.0.0.1:8080").hub == "ws://127.0.0.1:8080/notifications/hub")
        #expect(try Bases("https://vault.example//a///b").api == "https://vault.example/a/b/api")
        #expect(try Bases("https://[::1]:443/").api == "https://[::1]:443/api")
        #expect(try Bases("http://[::1]").api == "http://[::1]/api")
        #expect(try Bases("vault.example.:65535").api == "https://vault.example.:65535/api")
    }

    @Test func `a neighbour of the cloud is not the cloud`() throws {
        #expect(try Bases("notbitwarden.com").api == "https://notbitwarden.com/api")
        #expect(try Bases("bitwarden.com.example").api == "https://bitwarden.com.example/api")
    }

    @Test(arguments: [
        "", "https://", "ftp://vault.example", "https://user@vault.example", "https://a b",
        "https://vault.example/ä", "https://\u{0}", "javascript://x", "http://127.0.0.1:99999",
        "127.0.0.1:99999", "http://[zz]", "http://a..b", "http://h:", "http://h:0", "http://h:x",
        "http://h:80:80", "http://:80", "http://[::1]x", "http://[::1", "http://.", "http://h:+1",
    ])
    func `what is no server's address is refused`(_ address: String) {
        #expect(throws: Bases.Flaw.self) { try Bases(address) }
    }

    @Test func `addresses that upstream gives are resolved, and only the API sees the token`()
        throws
    {
        let bases = try Bases("https://vault.example/vw")
        #expect(bases.resolve("/ciphers/x/attachment/y") == bases.api + "/ciphers/x/attachment/y")
        #expect(bases.resolve("https://store.example/x?sig=y") == "https://store.example/x?sig=y")
        #expect(bases.isAPI(bases.resolve("ciphers/x")))
        for stranger in ["https://vault.example.evil/vw/api/x", "https://vault.example/vw/apix/y"] {
            #expect(!bases.isAPI(stranger))
        }
    }

    @Test func `an id never leads out of its place in the path`() {
        #expect("/ciphers/\(segment: "../../x?y#z")" == "/ciphers/..%2F..%2Fx%3Fy%23z")
        #expect("/\(segment: "..")/\(segment: ".")" == "/%2E%2E/%2E")
        #expect("\(segment: "0553b326-4054_a.~")" == "0553b326-4054_a.~")
        #expect("\(segment: "ä\n")" == "%C3%A4%0A")
    }
}
