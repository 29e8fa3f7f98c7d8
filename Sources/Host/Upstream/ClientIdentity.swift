public import Bitwarden
import HTTP

/// As what we present ourselves.
public struct ClientIdentity: Hashable, Sendable {
    public var device: Device
    public var name = "cli"
    /// Three numbers. Servers leave out of a sync what clients of that version would not understand,
    /// and Bitwarden refuses a log-in without.
    public var version = "2026.7.0"

    public init(device: Device) {
        self.device = device
    }

    var headers: Headers {
        [
            "Accept": "application/json",
            "Bitwarden-Client-Name": name,
            "Bitwarden-Client-Version": version,
            "Device-Type": String(device.type),
            "Device-Identifier": device.identifier,
        ]
    }
}
