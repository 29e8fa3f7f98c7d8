import Logging
import Sync

/// One thing that an operator can choose, and the names by which it is chosen.
///
/// The name is that of the flag without its dashes, and the key in the configuration file.
public struct Setting: Sendable {
    public let name: String
    /// The environment variable, if there is one.
    public let variable: String?
    /// What stands for its value in the help; nil for a switch.
    public let value: String?
    /// The words that its value may be, where these are known.
    public let choices: [String]
    public let isRepeatable: Bool
    public let help: String

    init(
        _ name: String,
        _ value: String?,
        variable: String? = nil,
        choices: [String] = [],
        isRepeatable: Bool = false,
        _ help: String
    ) {
        self.name = name
        self.variable = variable
        self.value = value
        self.choices = choices
        self.isRepeatable = isRepeatable
        self.help = help
    }
}

extension Setting {
    public static let all: [Setting] = [
        Setting("config", "FILE", variable: "HOLDFAST_CONFIG", "a JSON object with these settings"),
        Setting("state", "DIR", variable: "HOLDFAST_STATE", "where everything is kept"),
        Setting(
            "listen",
            "ADDR",
            variable: "HOLDFAST_LISTEN",
            isRepeatable: true,
            "HOST:PORT, unix:PATH, fd+listening://N or fd+connected://N (127.0.0.1:8087 and unix:STATE/holdfast.sock)"
        ),
        Setting(
            "hostname",
            "HOST",
            "as in bw serve: a name, all, unix://PATH, fd+listening://N, fd+connected://N"
        ),
        Setting("port", "PORT", "as in bw serve (8087)"),
        Setting(
            "ops-listen",
            "ADDR",
            variable: "HOLDFAST_OPS_LISTEN",
            "metrics, health and the status page (127.0.0.1:9187)"
        ),
        Setting(
            "upstream",
            "URL",
            variable: "HOLDFAST_UPSTREAM",
            "server of new accounts, if they name none"
        ),
        Setting(
            "extra-ca",
            "FILE",
            variable: "HOLDFAST_EXTRA_CA",
            "PEM certificates that upstreams are trusted by, besides the system's"
        ),
        Setting("ready-file", "FILE", "written once all listeners accept"),
        Setting(
            "sync-interval",
            "SECONDS",
            variable: "HOLDFAST_SYNC_INTERVAL",
            "how often accounts are synced (1800)"
        ),
        Setting(
            "offline-changes",
            "WHEN",
            choices: words(of: SwitchBoard.Setting.self),
            "on, off or server: keep edits that cannot be sent (on)"
        ),
        Setting(
            "resolution",
            "WHEN",
            choices: words(of: SwitchBoard.Setting.self),
            "on, off or server: bring what was kept upstream (on)"
        ),
        Setting(
            "abort-policy",
            "WHAT",
            choices: words(of: SyncPolicy.Abort.self),
            "whole or item: what a pending change holds back of a sync (whole)"
        ),
        Setting("max-pending", "N", "changes that are kept for an account (10000)"),
        Setting("no-auth", nil, "ask for no token; on loopback and Unix sockets only"),
        Setting(
            "log-level",
            "LEVEL",
            variable: "HOLDFAST_LOG_LEVEL",
            choices: words(of: LogLevel.self),
            "debug, info, notice, warning or error (info)"
        ),
        Setting(
            "log-format",
            "FORMAT",
            variable: "HOLDFAST_LOG_FORMAT",
            choices: words(of: LogFormat.self),
            "text or json (text on a terminal, else json)"
        ),
    ]

    private static func words<Word: CaseIterable & RawRepresentable<String>>(
        of type: Word.Type
    ) -> [String] {
        type.allCases.map(\.rawValue)
    }
}

/// What is wrong with a choice, in one line for the operator.
public struct SettingFlaw: Error, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
