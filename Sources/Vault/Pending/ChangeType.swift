/// What a pending change is called where it is shown and counted.
public enum ChangeType: String, CaseIterable, Hashable, Sendable {
    case create
    case update
    case softDelete
    case hardDelete
    /// A restore, an archiving and the like, without content or trash.
    case other

    /// Whether it writes the item anew.
    public var bringsContent: Bool {
        switch self {
        case .create, .update: true
        case .softDelete, .hardDelete, .other: false
        }
    }

    /// What is shown for a type as it was found. Absent and unknown text reads as an update; only
    /// the eye may be content with that, see ``PendingChange/foreignType``.
    public static func shown(for text: String?) -> ChangeType {
        text.flatMap(ChangeType.init(rawValue:)) ?? .update
    }
}
