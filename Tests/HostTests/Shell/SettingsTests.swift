import Logging
import System
import Testing

@testable import Host

struct SettingsTests {
    private func settings(
        _ flags: [String: [String]] = [:],
        _ environment: [String: String] = [:],
        file: String? = nil,
        isTerminal: Bool = false
    ) throws(SettingFlaw) -> HostSettings {
        var flags = flags
        if file != nil { flags["config"] = ["/etc/holdfast.json"] }
        return try HostSettings(
            flags: flags,
            environment: environment.merging(["HOME": "/home/ada"]) { first, _ in first },
            isTerminal: isTerminal
        ) { (path) throws(SystemError) in
            guard path == "/etc/holdfast.json" else { throw SystemError("open \(path)", code: 2) }
            return Array((file ?? "").utf8)
        }
    }

    private func line(_ name: String, _ settings: HostSettings) -> String {
        settings.lines.first { $0.name == name }.map(\.description) ?? ""
    }

    /// What three places say differently, and what holds if fewer and fewer of them say anything.
    @Test(arguments: [
        ("state", "HOLDFAST_STATE", "/a", "/b", #""/c""#, "/home/ada/.local/state/holdfast"),
        (
            "listen", "HOLDFAST_LISTEN", "127.0.0.1:1", "127.0.0.1:2", #"["127.0.0.1:3"]"#,
            "127.0.0.1:8087"
        ),
        (
            "ops-listen", "HOLDFAST_OPS_LISTEN", "127.0.0.1:1", "127.0.0.1:2", #""127.0.0.1:3""#,
            "127.0.0.1:9187"
        ),
        (
            "upstream", "HOLDFAST_UPSTREAM", "https://a.example", "bitwarden.eu",
            #""https://c.example""#, "none"
        ),
        ("sync-interval", "HOLDFAST_SYNC_INTERVAL", "1", "2", "900", "1800"),
        ("log-level", "HOLDFAST_LOG_LEVEL", "debug", "warning", #""error""#, "info"),
        ("log-format", "HOLDFAST_LOG_FORMAT", "text", "json", #""text""#, "json"),
        ("extra-ca", "HOLDFAST_EXTRA_CA", "/a.pem", "/b.pem", #""/c.pem""#, "none"),
        ("offline-changes", "", "off", "", #""server""#, "on"),
        ("resolution", "", "off", "", #""server""#, "on"),
        ("abort-policy", "", "item", "", #""item""#, "whole"),
        ("max-pending", "", "5", "", "7", "10000"),
        ("ready-file", "", "/a", "", #""/c""#, "none"),
        ("no-auth", "", "", "", "true", "false"),
    ])
    func
        `a flag goes before the environment, that before the file, and that before what holds otherwise`(
            _ row: (String, String, String, String, String, String)
        ) throws
    {
        let (name, variable, flag, env, json, standard) = row
        let file = "{\"\(name)\": \(json)}"
        let environment = variable.isEmpty ? [:] : [variable: env]
        let shown = json.filter { !"[]\"".contains($0) }
        let all = try settings([name: [flag]], environment, file: file)
        #expect(line(name, all).hasPrefix("\(name) = \(flag.isEmpty ? "true" : flag)"))
        #expect(line(name, all).hasSuffix("(flag)"))
        if !variable.isEmpty {
            let two = try settings([:], environment, file: file)
            #expect(line(name, two).hasPrefix("\(name) = \(env)"))
            #expect(line(name, two).hasSuffix("(env)"))
            #expect(line(name, try settings([:], [variable: ""])).hasSuffix("(default)"))
        }
        #expect(line(name, try settings(file: file)).hasPrefix("\(name) = \(shown)"))
        #expect(line(name, try settings(file: file)).hasSuffix("(file)"))
        #expect(line(name, try settings()).hasPrefix("\(name) = \(standard)"))
        #expect(line(name, try settings()).hasSuffix("(default)"))
    }

    @Test func `every setting is printed once, with its origin`() throws {
        let names = try settings().lines.map(\.name)
        let all = Setting.all.map(\.name).filter { $0 != "hostname" && $0 != "port" }
        #expect(names == all)
    }

    @Test(arguments: [
        ("listen", "nonsense"), ("listen", "127.0.0.1:70000"), ("listen", "127.0.0.1:-1"),
        ("listen", "::1:80"), ("listen", "[127.0.0.1]:80"), ("listen", ""), ("listen", "unix:"),
        ("listen", ":80"), ("listen", "a b:80"), ("listen", "fd+listening://x"),
        ("listen", "fd+connected://-1"),
        ("ops-listen", "9187"), ("port", "x"), ("port", "65536"),
        ("hostname", ""), ("hostname", "a b"), ("upstream", "ftp://x"), ("upstream", "https://"),
        ("sync-interval", "0"), ("sync-interval", "-5"), ("sync-interval", "1.5"),
        ("sync-interval", "soon"), ("sync-interval", ""), ("offline-changes", "maybe"),
        ("resolution", "ON"), ("abort-policy", "all"), ("max-pending", "-1"), ("max-pending", "x"),
        ("log-level", "loud"), ("log-format", "xml"), ("ready-file", ""), ("state", ""),
        ("extra-ca", ""), ("config", "/nowhere"),
    ])
    func `a bad value is refused in one line that names it`(_ name: String, _ value: String) {
        do {
            _ = try settings([name: [value]])
            Issue.record("\(name) took '\(value)'.")
        } catch {
            #expect(error.description.contains(name == "config" ? value : "--\(name)"))
            #expect(!error.description.contains("\n"))
        }
    }

    @Test(arguments: [
        "", "[]", "{", #"{"sync-intervall": 1}"#, #"{"sync-interval": 1, "sync-interval": 2}"#,
        #"{"sync-interval": null}"#, #"{"sync-interval": [1]}"#, #"{"sync-interval": 1.5}"#,
        #"{"listen": []}"#, #"{"listen": [1, {}]}"#, #"{"no-auth": "yes"}"#, #"{"config": "/x"}"#,
        #"{"no-auth": ""}"#,
    ])
    func `a bad file is refused in one line that names it`(_ text: String) {
        do {
            _ = try settings(file: text)
            Issue.record("It took \(text).")
        } catch {
            #expect(error.description.contains("/etc/holdfast.json"))
            #expect(!error.description.contains("\n"))
        }
    }

    @Test(arguments: [
        ([:], "127.0.0.1:8087, unix:/s/holdfast.sock"),
        (["listen": ["[::1]:0", "127.0.0.1:0"]], "[::1]:0, 127.0.0.1:0, unix:/s/holdfast.sock"),
        (["listen": ["unix:/run/x.sock"]], "unix:/run/x.sock"),
        (["listen": ["unix:///run/x.sock", "localhost:1"]], "unix:/run/x.sock, localhost:1"),
        (["port": ["0"]], "localhost:0, unix:/s/holdfast.sock"),
        (["hostname": ["Vault.example"]], "vault.example:8087, unix:/s/holdfast.sock"),
        (["hostname": ["all"], "port": ["1"]], "*:1, unix:/s/holdfast.sock"),
        (["hostname": ["::1"], "port": ["1"]], "[::1]:1, unix:/s/holdfast.sock"),
        (["hostname": ["unix:///run/x.sock"]], "unix:/run/x.sock"),
        (["hostname": ["fd+listening://3"]], "fd+listening://3, unix:/s/holdfast.sock"),
        (["hostname": ["fd+connected://4"]], "fd+connected://4, unix:/s/holdfast.sock"),
    ])
    func `it is said in many ways where to listen`(
        _ flags: [String: [String]],
        _ expected: String
    ) throws {
        let flags = flags.merging(["state": ["/s"]]) { first, _ in first }
        let places = try settings(flags).listen.map(\.description)
        #expect(places.joined(separator: ", ") == expected)
    }

    @Test
    func `the names of bw serve and our own are not given both, but one may overrule the other`()
        throws
    {
        #expect(throws: SettingFlaw.self) {
            try settings(["listen": ["127.0.0.1:1"], "port": ["2"]])
        }
        let byPort = try settings(["port": ["2"]], ["HOLDFAST_LISTEN": "127.0.0.1:1"])
        #expect(byPort.listen.first == .tcp(host: "localhost", port: 2))
        let byListen = try settings([:], ["HOLDFAST_LISTEN": "127.0.0.1:1"], file: #"{"port": 2}"#)
        #expect(byListen.listen.first == .tcp(host: "127.0.0.1", port: 1))
    }

    @Test(arguments: [
        ("127.0.0.1:0", true), ("127.9.9.9:0", true), ("localhost:0", true), ("[::1]:0", true),
        ("unix:/x", true), ("0.0.0.0:0", false), ("[::]:0", false), ("192.0.2.1:0", false),
        ("*:0", false), ("vault.example:0", false), ("127.evil.example:0", false),
    ])
    func `only who is on this machine is let in without a token`(_ place: String, _ isFine: Bool) {
        let flags = ["listen": [place], "no-auth": [""]]
        #expect((try? settings(flags))?.isOpen == (isFine ? true : nil))
    }

    @Test func `the state lies where the system says, unless an operator does`() throws {
        #expect(try settings([:], ["STATE_DIRECTORY": "/var/lib/a:/b"]).state == "/var/lib/a")
        #expect(try settings([:], ["XDG_STATE_HOME": "/x"]).state == "/x/holdfast")
        #expect(try settings([:], ["HOLDFAST_STATE": "/y", "XDG_STATE_HOME": "/x"]).state == "/y")
        #expect(throws: SettingFlaw.self) {
            try HostSettings(flags: [:], environment: [:], isTerminal: false)
        }
        let environment = ["HOME": "/home/ada"]
        #expect(
            HostSettings.socket(state: nil, environment: environment)
                == "/home/ada/.local/state/holdfast/holdfast.sock"
        )
        #expect(HostSettings.socket(state: "/s", environment: environment) == "/s/holdfast.sock")
    }

    @Test func `people read text and programs JSON`() throws {
        #expect(try settings(isTerminal: true).logFormat == .text)
        #expect(try settings().logFormat == .json)
        #expect(try settings(["log-format": ["json"]], isTerminal: true).logFormat == .json)
    }

    @Test func `what differs is known by name`() throws {
        let old = try settings()
        let new = try settings(["log-level": ["debug"], "port": ["1"]])
        #expect(old.differences(from: new) == ["listen", "log-level"])
    }
}
