import EmbeddedUpstream
import Glibc
import HTTP
import JSON
import System

extension Command {
    /// The development server alone.
    static let upstream = Command(
        name: "upstream",
        summary: "serves the API of Bitwarden or Vaultwarden, for development, tests and load",
        flags: [
            Flag(
                name: "listen",
                value: "ADDR",
                help: "numeric address and port; port 0 picks one (127.0.0.1:0)"
            ),
            Flag(name: "data", value: "DIR", help: "where accounts are kept (in memory)"),
            Flag(
                name: "profile",
                value: "NAME",
                choices: Personality.Name.allCases.map(\.rawValue),
                help: "bitwarden or vaultwarden (vaultwarden)"
            ),
            Flag(name: "ready-file", value: "FILE", help: "written once the server accepts"),
        ],
        awaitsSignals: true,
        run: { invocation, console throws(Failure) in
            let settings = try EmbeddedUpstream.Settings(invocation)
            Descriptors.claim()
            // Whoever waits for the file is not to find that of an earlier run.
            if let file = invocation.value("ready-file") { Files.withdraw(file) }
            let upstream = try await start(settings)
            if let file = invocation.value("ready-file") { try announce(upstream, in: file) }
            console.answer("Listening on \(upstream.url) as \(settings.personality).")
            await serve(upstream)
        }
    )

    private static func start(
        _ settings: EmbeddedUpstream.Settings
    ) async throws(Failure) -> EmbeddedUpstream {
        do {
            return try await EmbeddedUpstream.start(settings)
        } catch {
            throw Failure(status: .failure, message: error.description)
        }
    }

    private static func announce(
        _ upstream: EmbeddedUpstream,
        in file: String
    ) throws(Failure) {
        let text = JSON.Raw.object { $0.add("upstream", upstream.address?.description) }
        do {
            try Files.deliver(Array(text.bytes) + [UInt8(ascii: "\n")], to: file)
        } catch {
            throw Failure(status: .failure, message: "Cannot write \(file): \(error)")
        }
    }

    /// Serves until it is told to end, then finishes what is under way.
    private static func serve(_ upstream: EmbeddedUpstream) async {
        await withDiscardingTaskGroup { services in
            services.addTask { await upstream.run() }
            for await signal in Signals.stream() where signal != .hangUp { break }
            await upstream.stop(within: .seconds(10))
            // What is late is not waited for, nor the end of an absence.
            services.cancelAll()
        }
    }
}

extension EmbeddedUpstream.Settings {
    fileprivate init(_ invocation: Invocation) throws(Failure) {
        let name = invocation.value("profile") ?? Personality.Name.vaultwarden.rawValue
        guard let profile = Personality.Name(rawValue: name) else {
            throw Failure(
                status: .usage,
                message: "--profile is bitwarden or vaultwarden, not '\(name)'."
            )
        }
        let text = invocation.value("listen") ?? "127.0.0.1:0"
        guard let address = SocketAddress(text) else {
            throw Failure(
                status: .usage,
                message: "--listen wants a numeric address with its port, not '\(text)'."
            )
        }
        self.init(Personality(profile), address: address, directory: invocation.value("data"))
    }
}

extension SocketAddress {
    /// Reads `127.0.0.1:8087` and `[::1]:8087`.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else { return nil }
        let named = text[..<colon]
        let isBracketed = named.hasPrefix("[") && named.hasSuffix("]")
        let host = isBracketed ? String(named.dropFirst().dropLast()) : String(named)
        let number = host == "localhost" && !isBracketed ? "127.0.0.1" : host
        guard Self.isNumeric(number, isBracketed ? AF_INET6 : AF_INET) else { return nil }
        self.init(host: number, port: port)
    }

    private static func isNumeric(_ host: String, _ family: Int32) -> Bool {
        var address = in6_addr()
        return inet_pton(family, host, &address) == 1
    }
}
