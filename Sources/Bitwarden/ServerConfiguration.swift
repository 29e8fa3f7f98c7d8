public import JSON

/// What a server says of itself to everybody.
public struct ServerConfiguration: Sendable {
    public var version: String
    /// Only servers that are not Bitwarden's own give a name.
    public var serverName: String?
    public var environment: Environment
    /// Switches by name; most are booleans, some numbers or texts.
    public var featureStates: [String: JSON.Raw]
    public var allowsRegistration = true

    /// Where what can be reached. Empty and missing addresses are `nil`.
    public struct Environment: Sendable, Hashable {
        public var vault: String?
        public var api: String?
        public var identity: String?
        public var notifications: String?

        public init(vault: String?, api: String?, identity: String?, notifications: String?) {
            self.vault = vault
            self.api = api
            self.identity = identity
            self.notifications = notifications
        }
    }

    public init(version: String, serverName: String?, environment: Environment) {
        self.version = version
        self.serverName = serverName
        self.environment = environment
        featureStates = [:]
    }

    /// Whether items may have keys of their own. Servers from before that throw them away, and nobody can open what
    /// lies under them.
    public var keepsItemKeys: Bool {
        let parts = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        return parts.count == 2 && (parts[0], parts[1]) >= (2024, 2)
    }

    /// A switch that is on. What is missing, or no boolean, is off.
    public func isOn(_ feature: String) -> Bool { featureStates[feature]?.bool ?? false }
}

extension ServerConfiguration: JSON.Readable, JSON.Writable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        version = try json.read(anyCase: "version")
        serverName = json[anyCase: "server"]?[anyCase: "name"]?.string
        environment = Environment(json[anyCase: "environment"])
        featureStates = [:]
        for member in json[anyCase: "featureStates"]?.object.map(Array.init) ?? [] {
            featureStates[member.name.string] = member.value.raw.copy
        }
        let settings = json[anyCase: "settings"]
        allowsRegistration = settings?[anyCase: "disableUserRegistration"]?.bool != true
    }

    public func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("version", version)
            object.add("gitHash", "00000000")
            if let serverName {
                object.object("server") {
                    $0.add("name", serverName)
                    $0.add("url", "https://github.com/dani-garcia/vaultwarden")
                }
            } else {
                object.add("server", String?.none)
            }
            object.object("settings") {
                $0.add("disableUserRegistration", !allowsRegistration)
                $0.add("suppressOnboardingInterstitials", false)
            }
            object.object("environment", environment.write)
            object.object("push") {
                $0.add("pushTechnology", 0)
                $0.add("vapidPublicKey", String?.none)
            }
            object.object("featureStates") { states in
                for (name, value) in featureStates.sorted(by: { $0.key < $1.key }) {
                    states.add(name, value)
                }
            }
            object.add("communication", String?.none)
            object.add("object", "config")
        }
    }
}

extension ServerConfiguration.Environment {
    fileprivate init(_ json: JSON.Value?) {
        func address(_ name: String) -> String? {
            json?[anyCase: name]?.string.flatMap { $0.isEmpty ? nil : $0 }
        }
        vault = address("vault")
        api = address("api")
        identity = address("identity")
        notifications = address("notifications")
    }

    fileprivate func write(to object: inout JSON.ObjectWriter) {
        object.add("vault", vault)
        object.add("api", api)
        object.add("identity", identity)
        object.add("notifications", notifications)
        object.add("sso", "")
        object.add("cloudRegion", String?.none)
    }
}
