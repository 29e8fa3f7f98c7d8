public import HTTP
public import Logging
public import Sync
public import System

/// All that an operator can choose about a host, and from where each choice came.
///
/// What is given to a flag goes before the environment, that before the file, and that before what
/// holds otherwise.
public struct HostSettings: Sendable {
    public var state: String
    public var listen: [ListenPlace]
    public var opsListen: ListenPlace
    public var upstream: String?
    public var extraAuthorities: String?
    /// As the environment names them. This machine itself is never reached through one.
    public var proxies: Proxies
    public var readyFile: String?
    public var syncInterval: Duration
    public var offlineChanges: SwitchBoard.Setting
    public var resolution: SwitchBoard.Setting
    public var abortPolicy: SyncPolicy.Abort
    public var maxPending: Int
    /// Whether nobody is asked for a token.
    public var isOpen: Bool
    public var logLevel: LogLevel
    public var logFormat: LogFormat

    /// Whether the operator has said where to listen; if not, what the service manager has opened
    /// takes the place of the TCP listener.
    public var isListenChosen: Bool { origin(of: "listen") != .standard }
    /// The settings in the order of the help.
    public let lines: [Line]

    /// A setting as it is in force.
    public struct Line: Hashable, Sendable, CustomStringConvertible {
        public let name: String
        public let value: String
        public let origin: Origin

        public var description: String { "\(name) = \(value) (\(origin.rawValue))" }
    }

    /// - Parameter standards: What holds where nothing was chosen, if that is something of its own.
    public init(
        flags: [String: [String]],
        environment: [String: String],
        standards: [String: [String]] = [:],
        isTerminal: Bool,
        read: (String) throws(SystemError) -> [UInt8] = Files.read
    ) throws(SettingFlaw) {
        let sources = try SettingSources(
            flags: flags,
            environment: environment,
            standards: standards,
            read: read
        )
        var form = SettingForm(sources)
        form.note("config")
        state = try form.state(environment)
        listen = try form.listen(state)
        opsListen = try form.place("ops-listen", "127.0.0.1:9187")
        upstream = try form.upstream()
        extraAuthorities = try form.path("extra-ca")
        proxies = Proxies(environment: environment)
        proxies.exceptions += ["localhost", "127.0.0.0/8", "::1/128"]
        readyFile = try form.path("ready-file")
        syncInterval = .seconds(try form.number("sync-interval", 1_800, 1...2_592_000))
        offlineChanges = try form.word("offline-changes", .on)
        resolution = try form.word("resolution", .on)
        abortPolicy = try form.word("abort-policy", .whole)
        maxPending = try form.number("max-pending", 10_000, 0...10_000_000)
        isOpen = try form.toggle("no-auth")
        logLevel = try form.word("log-level", .info)
        logFormat = try form.word("log-format", isTerminal ? .text : .json)
        lines = form.lines
        if isOpen { try refuseOpenDoors() }
    }

    private func refuseOpenDoors() throws(SettingFlaw) {
        guard let open = listen.first(where: { !$0.isPrivate }) else { return }
        throw SettingFlaw(
            "--no-auth is for loopback and Unix sockets only, and \(open) is neither."
        )
    }

    private func origin(of name: String) -> Origin {
        lines.first { $0.name == name }?.origin ?? .standard
    }

    /// The settings whose values are others there, by name.
    public func differences(from other: HostSettings) -> [String] {
        zip(lines, other.lines).filter { $0.value != $1.value }.map(\.0.name)
    }
}

extension HostSettings {
    /// Where the state is kept unless somebody says otherwise; nil if there is no home.
    static func standardState(_ environment: [String: String]) -> String? {
        func variable(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        return variable("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
            // The rule is to ignore one that depends on where somebody stands.
            ?? variable("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? "\($0)/holdfast" : nil }
            ?? variable("HOME").map { "\($0)/.local/state/holdfast" }
    }

    /// Where a host with that state directory listens for the commands of its own user.
    ///
    /// - Parameter state: As it was named on the command line, if it was.
    public static func socket(state: String?, environment: [String: String]) -> String? {
        self.state(named: state, environment: environment).map { "\($0)/holdfast.sock" }
    }

    /// Where a host keeps its state, as far as the command line and the environment tell.
    public static func state(named name: String?, environment: [String: String]) -> String? {
        let named = name ?? environment["HOLDFAST_STATE"].flatMap { $0.isEmpty ? nil : $0 }
        return named ?? standardState(environment)
    }
}
