import Glibc
import HTTP
import Host
import Logging
import Metrics
import System

extension Command {
    /// The host itself.
    static let serve = Command(
        name: "serve",
        summary: "keeps accounts, serves their vaults and syncs them",
        flags: Setting.all.map(Flag.init) + [
            Flag(
                name: "print-config",
                help: "prints the settings and where they come from, and ends"
            )
        ],
        notes: [
            """
            Servers are reached through the proxies that http_proxy, https_proxy and all_proxy name, but for
            those in no_proxy and for this machine.
            """,
            """
            A listener takes requests whose Host is localhost, 127.0.0.1, [::1] or the host that it was given,
            with its port, and answers Forbidden to others. At *:PORT, or with --hostname all, it takes any, as
            people need who come in by another name or by a port that a container publishes. Where
            HOLDFAST_LISTEN names several, there are commas or blanks between them, so a path there has neither.
            """,
        ],
        awaitsSignals: true,
        run: { invocation, console throws(Failure) in
            let settings = try HostSettings.read(invocation)
            if invocation.isOn("print-config") { return settings.tell(console) }
            Privacy.forbidDumps()
            Memory.shareHeaps()
            let logbook = Logbook(settings)
            let shell = HostShell(settings, premises: .here(logbook), logbook: logbook)
            do {
                try HostShell.claimDescriptors()
                try await shell.serve(
                    until: Signals.stream(),
                    reread: { () throws(SettingFlaw) in try HostSettings(invocation) },
                    wire: { directory, premises in
                        let outside = try Wiring.Outside.real(settings)
                        return try await Wiring.interior(settings, in: directory, premises, outside)
                    }
                )
            } catch {
                throw Failure(starting: error)
            }
        }
    )
}

extension Failure {
    /// Why a host did not start.
    init(starting error: any Error) {
        let isMisuse = if case .openToAll = error as? ShellError { true } else { false }
        self.init(status: isMisuse ? .usage : .failure, message: String(describing: error))
    }
}

extension HostSettings {
    static func read(
        _ invocation: Invocation,
        environment: [String: String] = Environment.current,
        standards: [String: [String]] = [:]
    ) throws(Failure) -> HostSettings {
        let settings: HostSettings
        do {
            settings = try HostSettings(
                invocation,
                environment: environment,
                standards: standards
            )
        } catch {
            throw Failure(status: .usage, message: error.description)
        }
        if let path = settings.extraAuthorities, !holdsCertificate(path) {
            throw Failure(
                status: .usage,
                message: "extra-ca: no PEM certificate can be read from '\(path)'."
            )
        }
        return settings
    }

    private static func holdsCertificate(_ path: String) -> Bool {
        (try? Files.read(path)) != nil && Client.canTrust(authoritiesAt: path)
    }

    /// What is in force, and from where.
    func tell(_ console: Console) {
        for line in lines { console.answer(line.description) }
    }

    /// What was said on the command line, in the environment and in the configuration file.
    init(
        _ invocation: Invocation,
        environment: [String: String] = Environment.current,
        standards: [String: [String]] = [:]
    ) throws(SettingFlaw) {
        try self.init(
            flags: invocation.values.filter { $0.key != "print-config" },
            environment: environment,
            standards: standards,
            isTerminal: isatty(STDERR_FILENO) == 1
        )
    }
}

extension Flag {
    fileprivate init(_ setting: Setting) {
        self.init(
            name: setting.name,
            value: setting.value,
            choices: setting.choices,
            isRepeatable: setting.isRepeatable,
            help: setting.help + (setting.variable.map { " [\($0)]" } ?? "")
        )
    }
}

extension Logbook {
    /// On standard error, in the way of the journal if that is who reads it.
    convenience init(_ settings: HostSettings) {
        self.init(
            level: settings.logLevel,
            format: settings.logFormat,
            marksPriority: isJournal(STDERR_FILENO),
            sink: DescriptorSink(STDERR_FILENO),
            timekeeper: SystemTimekeeper()
        )
    }
}

/// Whether it is the journal that reads there, and not whoever that was redirected to since.
private func isJournal(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard let stream = Environment.current["JOURNAL_STREAM"], fstat(descriptor, &status) == 0 else {
        return false
    }
    return stream == "\(status.st_dev):\(status.st_ino)"
}

extension HostServer.Premises {
    static func here(_ logbook: Logbook) -> Self {
        let timekeeper = SystemTimekeeper()
        let registry = Registry(timekeeper: timekeeper)
        registry.registerProcess()
        registry.registerInfo(
            "holdfast_build_info",
            "What runs here.",
            ["version": Holdfast.version, "swift": Build.swift, "sqlite": Build.sqlite]
        )
        return Self(
            registry: registry,
            log: Logger(logbook),
            timekeeper: timekeeper,
            manager: Supervisor(environment: Environment.current),
            activation: Activation(environment: Environment.current)
        )
    }
}
