/// What a client asks for, encrypted already.
public struct Edit: Hashable, Sendable {
    public enum Wish: Hashable, Sendable {
        case add(Snapshot)
        /// `changesPassword` compares with what the user saw, not with what upstream holds.
        case update(Snapshot, changesPassword: Bool)
        case trash
        case restore
        case archive
        case unarchive
        case move(Adjustments.Folder)
        case favour(Bool)
        /// Both at once.
        case place(Adjustments.Folder, isFavourite: Bool)
        case hardDelete
    }

    public let wish: Wish
    public let moment: Moment
    public let clock: ClockNote?

    public init(_ wish: Wish, at moment: Moment, clock: ClockNote? = nil) {
        self.wish = wish
        self.moment = moment
        self.clock = clock
    }
}

/// What an edit has to know of the base copy of its cipher.
public struct Footing: Hashable, Sendable {
    /// The stamp of upstream's last answer about the cipher, not that of the object in hand.
    public let revision: Revision
    public let isTrashed: Bool
    public let isArchived: Bool
    public let copy: [UInt8]?

    public init(
        revision: Revision,
        isTrashed: Bool = false,
        isArchived: Bool = false,
        copy: [UInt8]? = nil
    ) {
        self.revision = revision
        self.isTrashed = isTrashed
        self.isArchived = isArchived
        self.copy = copy
    }
}
