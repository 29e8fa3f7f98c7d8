import Bitwarden
import JSON
import Vault

/// Everything the server knows, as one value. Routes change it; nothing in it waits.
struct World: Sendable {
    private(set) var personality: Personality
    var accounts: [String: Account] = [:]
    var idsByEmail: [String: String] = [:]
    var organizations: [String: Organization] = [:]
    /// By access token.
    var sessions: [String: Session] = [:]
    /// By refresh token.
    var renewals: [String: Renewal] = [:]
    /// The bytes of files, by the ids of item and file.
    var files: [String: [UInt8]] = [:]
    /// What lets a file be fetched without an access token.
    var fileTokens: [String: String] = [:]
    var featureStates: [String: JSON.Raw]
    /// The last stamp that was given, for no two are alike.
    var lastStamp = Moment(ticks: 0)
    /// What the call under way has to tell connected devices.
    var announcements: [Announcement] = []
    /// What the call under way has changed, for whoever keeps it.
    var changes: Set<Change> = []

    init(_ personality: Personality) {
        self.personality = personality
        featureStates = ["pm-19148-innovation-archive": true]
    }
}

extension World {
    /// Who holds the token. It need not be of the newest stamp, only not too old.
    func session(ofToken token: String, at now: Moment) -> Session? {
        sessions[token].flatMap { $0.expires > now ? $0 : nil }
    }

    mutating func admit(
        _ device: StoredDevice,
        of userID: String,
        by access: StoredDevice.Access
    ) {
        sessions[access.token] = Session(
            userID: userID,
            deviceID: device.identifier,
            clientID: device.clientID,
            stamp: access.stamp,
            expires: access.expires
        )
    }
}

/// Who asks, as an access token says it.
struct Session: Sendable, Hashable {
    let userID: String
    let deviceID: String
    let clientID: String
    let stamp: String
    let expires: Moment

    var ofAnotherDevice: Session {
        Session(
            userID: userID,
            deviceID: "00000000-0000-4000-8000-00000000000a",
            clientID: clientID,
            stamp: stamp,
            expires: expires
        )
    }
}

/// Whose access token a refresh token renews.
struct Renewal: Sendable, Hashable {
    let userID: String
    let deviceID: String
}

/// An event on its way to the devices of some users.
struct Announcement: Sendable, Hashable {
    var event: HubEvent
    let userIDs: [String]
    /// A device that is left out.
    var sparedDeviceID: String?
}

/// A part of the world that is kept by itself.
enum Change: Hashable, Sendable {
    case account(String)
    case cipher(owner: String, String)
    case organization(String)
    case file(String)
}

extension World {
    /// A stamp that no other has. The clock of the machine may stand still or go back meanwhile.
    mutating func stamp(_ call: borrowing Call) -> Moment { stamp(at: call.now) }

    private mutating func stamp(at now: Moment) -> Moment {
        let step: Int64 = 10
        lastStamp = Moment(ticks: max(now.ticks - now.ticks % step, lastStamp.ticks + step))
        return lastStamp
    }

    /// Notes that something of the user's has changed.
    mutating func touch(_ userID: String, _ call: borrowing Call) { touch(userID, at: call.now) }

    mutating func touch(_ userID: String, at now: Moment) {
        let stamp = stamp(at: now)
        accounts[userID]?.revised = stamp
        changes.insert(.account(userID))
    }

    mutating func announce(
        _ kind: HubEvent.Kind,
        id: String? = nil,
        to userID: String,
        date: Moment?,
        _ call: borrowing Call,
        namesActor: Bool = true,
        reason: HubEvent.Reason? = nil,
        sparing deviceID: String? = nil
    ) {
        var event = HubEvent(kind, userID: userID)
        event.id = id
        event.date = id == nil && personality.hub.tellsReasons ? nil : date
        event.reason = reason
        event.contextID = namesActor ? call.deviceID : nil
        announcements.append(
            Announcement(event: event, userIDs: [userID], sparedDeviceID: deviceID)
        )
    }
}

extension World {
    /// Other digits than the personality's own, as from another store.
    mutating func setStampDigits(_ digits: Int) { personality.stampDigits = digits }
}
