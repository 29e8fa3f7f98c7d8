import Bitwarden
import HTTP
import JSON

extension Routes {
    /// What everybody may read.
    mutating func addOpenPages() {
        open(.get, "/api/config", .config) { call, world throws(Refusal) in
            Reply(world.configuration(call))
        }
        for path in ["/alive", "/api/alive", "/api/now"] {
            open(.get, path, .alive) { call, world throws(Refusal) in
                Reply(json: JSON.Raw(world.personality.stamp(call.now)))
            }
        }
        open(.get, "/api/version", .alive) { call, world throws(Refusal) in
            Reply(json: JSON.Raw(world.personality.version))
        }
    }

    /// What official clients look at now and then, and find empty here.
    mutating func addEmptyLists() {
        let paths = [
            "tasks", "webauthn", "auth-requests/pending", "emergency-access/trusted",
            "emergency-access/granted", "plans", "policies",
        ]
        for path in paths {
            on(.get, "/api/" + path, .other) { call, world throws(Refusal) in .list { _ in } }
        }
        on(.get, "/api/hibp/breach", .other) { call, world throws(Refusal) in
            Reply(json: .array { _ in })
        }
        on(.get, "/api/settings/domains", .domains) { call, world throws(Refusal) in
            Reply(json: EquivalentDomains.raw)
        }
    }
}

extension World {
    fileprivate func configuration(_ call: Call) -> ServerConfiguration {
        var configuration = ServerConfiguration(
            version: personality.version,
            serverName: personality.serverName,
            environment: ServerConfiguration.Environment(
                vault: call.origin,
                api: call.origin + "/api",
                identity: call.origin + "/identity",
                notifications: call.origin + "/notifications"
            )
        )
        configuration.featureStates = featureStates
        return configuration
    }
}
