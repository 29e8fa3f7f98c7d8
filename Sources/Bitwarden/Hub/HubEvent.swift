public import Vault

/// Something that has happened to an account.
///
/// Its dates are not to be relied upon: one of the servers repeats the old one for some changes.
public struct HubEvent: Sendable, Hashable {
    public struct Kind: RawRepresentable, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let cipherUpdated = Self(rawValue: 0)
        public static let cipherCreated = Self(rawValue: 1)
        /// Gone for good.
        public static let cipherDeleted = Self(rawValue: 2)
        public static let folderDeleted = Self(rawValue: 3)
        /// Many at once.
        public static let ciphersChanged = Self(rawValue: 4)
        public static let vaultChanged = Self(rawValue: 5)
        public static let organizationKeysChanged = Self(rawValue: 6)
        public static let folderCreated = Self(rawValue: 7)
        public static let folderUpdated = Self(rawValue: 8)
        public static let settingsChanged = Self(rawValue: 10)
        public static let loggedOut = Self(rawValue: 11)
        public static let sendCreated = Self(rawValue: 12)
        public static let sendUpdated = Self(rawValue: 13)
        public static let sendDeleted = Self(rawValue: 14)
    }

    public var kind: Kind
    /// The identifier of the device that acted, if the server says it.
    public var contextID: String?
    /// The cipher, folder or send; `nil` for what concerns the whole account.
    public var id: String?
    public var userID: String?
    public var organizationID: String?
    public var collectionIDs: [String]?
    public var date: Moment?
    /// Why a session has ended, if the server says it.
    public var reason: Reason?

    public struct Reason: RawRepresentable, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Only how the key is made from the password has changed. Whoever knows that need not log out.
        public static let derivationChanged = Self(rawValue: 0)
    }

    public init(_ kind: Kind, userID: String?) {
        self.kind = kind
        self.userID = userID
    }
}

extension HubEvent {
    init?(_ value: MessagePack) {
        guard let type = value["Type"]?.int else { return nil }
        kind = Kind(rawValue: type)
        contextID = value["ContextId"]?.string
        let payload = value["Payload"] ?? .null
        id = payload["Id"]?.string
        userID = payload["UserId"]?.string
        organizationID = payload["OrganizationId"]?.string
        collectionIDs = payload["CollectionIds"]?.array?.compactMap(\.string)
        reason = payload["Reason"]?.int.map { Reason(rawValue: $0) }
        date = (payload["RevisionDate"] ?? payload["Date"]).flatMap(Moment.init)
    }

    var value: MessagePack {
        .map([
            .init(.string("ContextId"), contextID.map(MessagePack.string) ?? .null),
            .init(.string("Type"), .int(Int64(kind.rawValue))),
            .init(.string("Payload"), payload),
        ])
    }

    private var payload: MessagePack {
        let user = userID.map(MessagePack.string) ?? .null
        let stamp = date.map(\.timestamp) ?? .null
        guard let id else {
            // One of the servers tells a reason, mostly none, where the other tells a date.
            guard date != nil else {
                let why = reason.map { MessagePack.int(Int64($0.rawValue)) }
                return .map([
                    .init(.string("UserId"), user), .init(.string("Reason"), why ?? .null),
                ])
            }
            return .map([.init(.string("UserId"), user), .init(.string("Date"), stamp)])
        }
        var entries: [MessagePack.Entry] = [
            .init(.string("Id"), .string(id)), .init(.string("UserId"), user),
        ]
        if (0...2).contains(kind.rawValue) {
            let collections = collectionIDs.map { MessagePack.array($0.map(MessagePack.string)) }
            let organization = organizationID.map(MessagePack.string)
            entries.append(.init(.string("OrganizationId"), organization ?? .null))
            entries.append(.init(.string("CollectionIds"), collections ?? .null))
        }
        entries.append(.init(.string("RevisionDate"), stamp))
        return .map(entries)
    }
}

extension Moment {
    /// Some servers write a text where others write a timestamp.
    fileprivate init?(_ value: MessagePack) {
        switch value {
        case .timestamp(let seconds, let nanoseconds):
            let (ticks, overflow) = seconds.multipliedReportingOverflow(by: Self.ticksPerSecond)
            if overflow { return nil }
            self.init(ticks: ticks &+ Int64(nanoseconds / 100))
        case .string(let text):
            guard let revision = Revision(text) else { return nil }
            self = revision.moment
        default: return nil
        }
    }

    fileprivate var timestamp: MessagePack {
        let fraction = ((ticks % Self.ticksPerSecond) + Self.ticksPerSecond) % Self.ticksPerSecond
        return .timestamp(
            seconds: (ticks - fraction) / Self.ticksPerSecond,
            nanoseconds: UInt32(fraction * 100)
        )
    }
}
