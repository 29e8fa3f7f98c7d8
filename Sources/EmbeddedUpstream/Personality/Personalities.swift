import Bitwarden

extension Personality {
    public init(_ name: Name) {
        switch name {
        case .bitwarden: self = .bitwarden
        case .vaultwarden: self = .vaultwarden
        }
    }

    public static let bitwarden = Personality(
        name: .bitwarden,
        version: "2026.8.0",
        serverName: nil,
        wording: .bitwarden,
        stampDigits: 7,
        stampIsPadded: false,
        stale: .apart,
        tokenSeconds: 3_600,
        wantsVersionHeader: true,
        checksStampAlways: false,
        registersDirectly: false,
        inventsSettings: true,
        repeatsWrappedKey: false,
        mailsNewDevices: true,
        mirror: .text,
        alwaysDetails: false,
        keepsUnknownMembers: false,
        checksLengthsAndShape: true,
        keepsWhatIsOmitted: false,
        typeLimit: 8,
        restampsTrash: false,
        refusesSecondArchiving: true,
        archivingRevises: true,
        filesRevise: true,
        filesAreDated: true,
        bulkSkips: true,
        bulkLimit: 500,
        importLimit: ImportLimit(items: 7_000, folders: 2_000),
        emptyListsAreNull: true,
        fileAddressIsWhole: false,
        checksEncryptedFor: true,
        limitsSends: true,
        toldByNegativeRevision: true,
        hub: HubHabits(
            answersInText: true,
            sendsHubPings: true,
            echoesBinary: false,
            timestamps: .shortest,
            sparesActorOfArchive: true,
            tellsReasons: true
        )
    )

    public static let vaultwarden = Personality(
        name: .vaultwarden,
        version: "2026.6.0",
        serverName: "Vaultwarden",
        wording: .vaultwarden,
        stampDigits: 6,
        stampIsPadded: true,
        stale: .newer,
        tokenSeconds: 7_200,
        wantsVersionHeader: false,
        checksStampAlways: true,
        registersDirectly: true,
        inventsSettings: false,
        repeatsWrappedKey: true,
        mailsNewDevices: false,
        mirror: .object,
        alwaysDetails: true,
        keepsUnknownMembers: true,
        checksLengthsAndShape: false,
        keepsWhatIsOmitted: true,
        typeLimit: 5,
        restampsTrash: true,
        refusesSecondArchiving: false,
        archivingRevises: false,
        filesRevise: false,
        filesAreDated: false,
        bulkSkips: false,
        bulkLimit: nil,
        importLimit: nil,
        emptyListsAreNull: false,
        fileAddressIsWhole: true,
        checksEncryptedFor: false,
        limitsSends: false,
        toldByNegativeRevision: false,
        hub: HubHabits(
            answersInText: false,
            sendsHubPings: false,
            echoesBinary: true,
            timestamps: .eight,
            sparesActorOfArchive: false,
            tellsReasons: false
        )
    )
}
