/// All that the decision about a pending change depends on.
public struct Situation: Hashable, Sendable {
    public var wish: Wish
    public var standing: Standing
    /// Who came later: the user's last edit, or what upstream holds.
    public var later: Side
    /// Whether upstream holds a password that nobody would find again in the pushed item's history,
    /// or may do so because the password was changed too often.
    public var outgrowsHistory: Bool

    public init(
        _ wish: Wish,
        _ standing: Standing,
        later: Side = .local,
        outgrowsHistory: Bool = false
    ) {
        self.wish = wish
        self.standing = standing
        self.later = later
        self.outgrowsHistory = outgrowsHistory
    }

    /// What the user wants, as far as a conflict depends on it.
    public enum Wish: String, CaseIterable, Hashable, Sendable {
        /// A new item, whatever has become of it here since: upstream has never confirmed that it has it.
        case create
        /// New content of an item.
        case content
        /// New content, and then the trash.
        case contentAndTrash
        case trash
        case delete
        /// Restoring, archiving, a folder, a favourite: nothing that could overwrite anything.
        case touch
    }

    /// What upstream holds, against what both sides agreed on last and against what we sent.
    public enum Standing: String, CaseIterable, Hashable, Sendable {
        /// Nothing, and its own list confirms that.
        case missing
        /// What is wanted, content for content.
        case landed
        /// Something that we sent earlier, and nobody changed since.
        case ours
        /// What both sides agreed on.
        case unmoved
        /// The same content in another place or state: folder, favourite, archive, trash, files.
        case touched
        /// Content that somebody else wrote.
        case moved
        /// Other content, and nobody knows what both sides agreed on.
        case unproven
        /// It belongs to an organisation now.
        case shared
    }
}

extension Situation: CaseIterable {
    public static var allCases: [Situation] {
        Wish.allCases.flatMap { wish in
            Standing.allCases.flatMap { standing in
                Side.allCases.flatMap { later in
                    [false, true].map {
                        Situation(wish, standing, later: later, outgrowsHistory: $0)
                    }
                }
            }
        }
    }
}

extension Situation.Wish {
    public init(_ intent: Intent) {
        self =
            switch intent {
            case .create: .create
            case .update(_, .trashed, _), .softDelete(.some, _): .contentAndTrash
            case .update: .content
            case .softDelete(.none, _): .trash
            case .hardDelete: .delete
            case .other: .touch
            }
    }
}
