import Bitwarden
import Vault

/// Everything in which the two servers differ, so that no route has to know which of them it is.
public struct Personality: Sendable {
    public enum Name: String, Sendable, CaseIterable {
        case bitwarden
        case vaultwarden
    }

    /// Where an item's content stands a second time in an answer.
    enum Mirror: Sendable {
        /// In `data`, as a text of JSON with names in Pascal case.
        case text
        /// In `data`, as an object.
        case object
    }

    let name: Name
    private(set) var version: String
    /// Only those that are not Bitwarden's own say it.
    let serverName: String?
    let wording: Wording

    // Dates
    var stampDigits: Int
    let stampIsPadded: Bool
    let stale: StaleRule

    // Identity
    let tokenSeconds: Int
    let wantsVersionHeader: Bool
    /// Whether an access token ends with the security stamp it was made under.
    let checksStampAlways: Bool
    let registersDirectly: Bool
    /// Whether an unknown address gets settings made up from it, instead of the usual ones.
    let inventsSettings: Bool
    let repeatsWrappedKey: Bool
    let mailsNewDevices: Bool

    // Items
    let mirror: Mirror
    /// Whether answers to reading and writing one item are the detailed ones.
    let alwaysDetails: Bool
    let keepsUnknownMembers: Bool
    private(set) var keepsItemKeys = true
    let checksLengthsAndShape: Bool
    let keepsWhatIsOmitted: Bool
    let typeLimit: Int
    /// Whether a thing that is in a state already is put there again with new stamps, or left alone.
    let restampsTrash: Bool
    let refusesSecondArchiving: Bool
    let archivingRevises: Bool
    let filesRevise: Bool
    /// Whether a file is taken only from whoever knows the newest copy of its item.
    let filesAreDated: Bool
    /// Whether a bulk call passes over ids that mean nothing, or stops at the first.
    let bulkSkips: Bool
    /// How many ids a bulk call may name, and how many items and folders an import.
    let bulkLimit: Int?
    let importLimit: ImportLimit?
    let emptyListsAreNull: Bool
    /// Whether the address for a file's bytes can be asked as it is, below the API's base.
    let fileAddressIsWhole: Bool
    let checksEncryptedFor: Bool
    /// Whether a send can be for certain people, who are known by their addresses.
    let limitsSends: Bool

    /// Whether whoever still has a token of an account that is gone is told so by its revision.
    let toldByNegativeRevision: Bool

    // Hub
    let hub: HubHabits

    /// The same of a time in which items had no keys of their own.
    public var beforeItemKeys: Personality {
        var old = self
        (old.version, old.keepsItemKeys) = ("2023.12.0", false)
        return old
    }

    func stamp(_ moment: Moment) -> String {
        Stamp.text(moment, digits: stampDigits, padded: stampIsPadded)
    }

    func stamp(_ moment: Moment?) -> String? { moment.map { stamp($0) } }
}

/// How each server speaks on the hub.
struct HubHabits: Sendable {
    let answersInText: Bool
    let sendsHubPings: Bool
    let echoesBinary: Bool
    let timestamps: MessagePack.TimestampForm
    /// Whether bulk changes and archiving leave the acting device out.
    let sparesActorOfArchive: Bool
    /// Whether what concerns the whole account is told with a reason instead of a date.
    let tellsReasons: Bool
}

struct ImportLimit: Sendable {
    let items: Int
    let folders: Int
}

/// When a copy that a client has edited is too old.
enum StaleRule: Sendable {
    /// The stamps lie more than a second apart, whichever is the later.
    case apart
    /// The server's is newer by two whole seconds. What is no stamp is passed over.
    case newer

    enum Verdict {
        case fresh
        case stale
        case unreadable
    }

    func judge(server: Moment, known text: String?) -> Verdict {
        guard let text else { return .fresh }
        switch self {
        case .apart:
            guard let known = Revision(text) else { return .unreadable }
            let apart = (server.ticks - known.moment.ticks).magnitude
            return apart > UInt64(Moment.ticksPerSecond) ? .stale : .fresh
        case .newer:
            guard let known = Self.withoutOffset(text) else { return .fresh }
            let seconds = (server.ticks - known.ticks) / Moment.ticksPerSecond
            return seconds > 1 ? .stale : .fresh
        }
    }

    /// That server reads an offset and does not heed it, and takes no stamp without one.
    private static func withoutOffset(_ text: String) -> Moment? {
        guard Revision(text) != nil else { return nil }
        let clock = text.prefix { $0 != "Z" && $0 != "z" && $0 != "+" }
        let isNegative = clock.utf8.count > 19 && clock.dropFirst(19).contains("-")
        guard clock.utf8.count < text.utf8.count || isNegative else { return nil }
        let plain = isNegative ? clock.prefix(19) : clock
        return Revision(String(plain) + "Z")?.moment
    }
}

extension Personality: CustomStringConvertible {
    public var description: String { name.rawValue }
}
