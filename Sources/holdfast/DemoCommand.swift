import Bitwarden
import EmbeddedUpstream
import FoundationEssentials
import Glibc
import HTTP
import Host
import JSON
import Logging
import System
import Vault

extension Command {
    /// Everything at once, for whoever wants to see it work.
    static let demo = Command(
        name: "demo",
        summary: "serves a demo account with a server of its own, and tells what to try",
        flags: Command.serve.flags.map { $0.name == "state" ? Demo.state : $0 },
        notes: Command.serve.notes,
        awaitsSignals: true,
        run: { invocation, console throws(Failure) in
            do {
                let demo = try Demo(invocation, console)
                if invocation.isOn("print-config") { return demo.tellSettings() }
                try await demo.run()
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(starting: error)
            }
        }
    )
}

/// One process that is both ends: a host, and the server that it syncs with.
private struct Demo {
    let console: Console
    let settings: HostSettings
    let invocation: Invocation
    /// What a demo chooses where nobody has.
    let standards: [String: [String]]
    /// Nobody misses it afterwards.
    let isTemporary: Bool

    static let state = Flag(
        name: "state",
        value: "DIR",
        help: "where everything is kept (a directory that is gone in the end)"
    )
    /// The state that is exported is that of a host with people's accounts: a demo keeps out of it.
    static let environment = Environment.current.filter { $0.key != "HOLDFAST_STATE" }
    static let email = "demo@holdfast.example"
    static let password = "correct horse battery staple"

    init(_ invocation: Invocation, _ console: Console) throws(Failure) {
        var template = "/tmp/holdfast-demo-XXXXXX"
        func settings() throws(Failure) -> (HostSettings, [String: [String]]) {
            let standards = ["state": [template], "log-level": ["warning"]]
            let settings = try HostSettings.read(
                invocation,
                environment: Self.environment,
                standards: standards
            )
            return (settings, standards)
        }
        var chosen = try settings()
        isTemporary = chosen.0.state == template
        if isTemporary {
            var path = Array(template.utf8CString)
            guard mkdtemp(&path) != nil else {
                throw Failure(status: .failure, message: "No directory can be made in /tmp.")
            }
            template = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            chosen = try settings()
        }
        (self.settings, standards) = chosen
        self.invocation = invocation
        self.console = console
    }

    func tellSettings() {
        settings.tell(console)
        if isTemporary { try? FileManager.default.removeItem(atPath: settings.state) }
    }

    func run() async throws {
        Privacy.forbidDumps()
        defer { if isTemporary { try? FileManager.default.removeItem(atPath: settings.state) } }
        try HostShell.claimDescriptors()
        let outside = try Wiring.Outside.real(settings)
        let logbook = Logbook(settings)
        let shell = HostShell(settings, premises: .here(logbook), logbook: logbook)
        try await withThrowingTaskGroup { services in
            var tenants: (household: any Household, upstream: EmbeddedUpstream)?
            let result: Result<Void, any Error>
            do {
                try await shell.serve(
                    until: Signals.stream(),
                    reread: { () throws(SettingFlaw) in
                        try HostSettings(
                            invocation,
                            environment: Self.environment,
                            standards: standards
                        )
                    },
                    wire: { directory, premises in
                        let interior = try await Wiring.interior(
                            settings,
                            in: directory,
                            premises,
                            outside
                        )
                        let upstream = try await upstream(of: interior)
                        services.addTask { await upstream.run() }
                        tenants = (interior.household, upstream)
                        return interior
                    },
                    opened: { addresses in
                        guard let (household, upstream) = tenants else { return }
                        await furnish(household, upstream.url, addresses)
                    }
                )
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await tenants?.upstream.stop(within: .seconds(2))
            services.cancelAll()
            try result.get()
        }
    }

    /// Only now: before, the directory may have been another host's.
    private func upstream(of interior: Interior) async throws -> EmbeddedUpstream {
        do {
            return try await open()
        } catch {
            await interior.close()
            await interior.conclude()
            throw error
        }
    }

    private func open() async throws -> EmbeddedUpstream {
        let upstream = try await EmbeddedUpstream.start(
            EmbeddedUpstream.Settings(
                Personality(.vaultwarden),
                directory: isTemporary ? nil : settings.state + "/upstream"
            )
        )
        do {
            try await register(at: upstream)
        } catch {
            await upstream.stop(within: .seconds(2))
            throw error
        }
        return upstream
    }

    private func furnish(
        _ household: any Household,
        _ server: String,
        _ addresses: HostServer.Addresses
    ) async {
        do {
            let desk = try await moveIn(household, server)
            // Who has a vault of their own in that state does not want the demo's items in it.
            let isDefault = household.defaultDesk?.id == desk.id
            console.answer(Guide(addresses, settings, desk.id, isDefault, server).text)
        } catch {
            console.complain("holdfast: the demo account could not be made: \(error)")
        }
    }

    /// Makes the account, unless it is there from an earlier time.
    private func register(at upstream: EmbeddedUpstream) async throws {
        guard await upstream.userID(of: Self.email) == nil else { return }
        let newcomer = try Newcomer(email: Self.email, password: Self.password)
        let client = try Client()
        let url = upstream.url + "/identity/accounts/register/finish"
        var request = Client.Request(.post, url)
        request.headers["Content-Type"] = "application/json"
        request.body = .bytes(Array(JSON.Raw(newcomer.registration, capacity: 8_192).bytes))
        let response = try await client.send(request)
        await client.close()
        guard response.status.isSuccess else {
            throw Failure(
                status: .failure,
                message: "The embedded server refused the account: "
                    + String(decoding: response.body, as: UTF8.self)
            )
        }
    }

    private func moveIn(
        _ household: any Household,
        _ server: String
    ) async throws -> any AccountDesk {
        var request = SignInRequest(email: Self.email, password: Self.password)
        request.server = server
        let desk = try await household.signIn(request)
        guard try await desk.items().isEmpty else { return desk }
        for body in Self.furniture { _ = try await desk.add(try ItemBody(Array(body.utf8))) }
        return desk
    }

    private static let furniture = [
        #"{"type":1,"name":"Bank","login":{"username":"ada","password":"first-secret","#
            + #""uris":[{"uri":"https://bank.example"}]}}"#,
        #"{"type":1,"name":"Mail","login":{"username":"ada@mail.example","password":"pigeon"}}"#,
        #"{"type":2,"name":"Front door","notes":"The key is under the third pot.","#
            + #""secureNote":{"type":0}}"#,
        #"{"type":3,"name":"Travel card","card":{"brand":"Visa","number":"4111111111111111","#
            + #""expMonth":"7","expYear":"2031"}}"#,
    ]
}

/// What is printed once everything is there.
private struct Guide {
    let text: String

    init(
        _ addresses: HostServer.Addresses,
        _ settings: HostSettings,
        _ account: String,
        _ isDefault: Bool,
        _ upstream: String
    ) {
        let socket = addresses.socket ?? ""
        let api = "http://\(addresses.api?.description ?? "localhost")"
        let vault = isDefault ? api : "\(api)/accounts/\(account)"
        let curl = addresses.api == nil ? "curl --unix-socket \(socket.quotedForShell)" : "curl"
        let health = addresses.ops.map { "http://\($0)" } ?? "\(addresses.opsSocket ?? ""): "
        let auth = "-H \"Authorization: Bearer $TOKEN\""
        let json = "-H 'Content-Type: application/json'"
        let state = Files.absolute(settings.state)
        text = """
            Holdfast is running, with a demo account and a server of its own.

              account   \(Demo.email), password "\(Demo.password)"
              API       \(addresses.api == nil ? socket : "\(api)  (and \(socket))")
              health    \(health)/status and /metrics
              server    \(upstream)

            Things to try, in another terminal:

              TOKEN=$(cat \("\(state)/admin.token".quotedForShell))

              # what is in the vault
              \(curl) -s \(auth) '\(vault)/list/object/items?pretty'

              # take the network away, and edit all the same
              \(curl) -s -X PUT \(auth) \(json) -d '{"mode":"offline"}' \(api)/network
              \(curl) -si \(auth) \(json) -d '{"type":2,"name":"Made offline","notes":"kept","secureNote":{"type":0}}' \\
                   \(vault)/object/item
              \(curl) -s \(auth) '\(vault)/pending?pretty'

              # bring it back: what waited goes to the server
              \(curl) -s -X PUT \(auth) \(json) -d '{"mode":"auto"}' \(api)/network
              \(curl) -s \(auth) '\(api)/accounts/\(account)?pretty'

            Ctrl-C ends it.
            """
    }
}

extension String {
    /// As one word of a command line.
    fileprivate var quotedForShell: String {
        "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
            + "'"
    }
}
