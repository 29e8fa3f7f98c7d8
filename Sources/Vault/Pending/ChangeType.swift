/// What a pending change is called where it is shown and counted.
public enum ChangeType: String, CaseIterable, Hashable, Sendable {
    case create
    case update
    case softDelete
    case hardDelete
    /// A restore or an archiving, without content or trash.
    case other

    /// What the store calls an update of folder or favourite, which has no content of its own.
    public static let placeText = "place"

    /// Whether what the store calls so writes the item anew.
    public static func bringsContent(_ text: String) -> Bool {
        switch shown(for: text) {
        case .create, .update: text != placeText
        case .softDelete, .hardDelete, .other: false
        }
    }

    /// What is shown for a type as it was found. Absent and unknown text reads as an update; only
    /// the eye may be content with that, see ``PendingChange/foreignType``.
    public static func shown(for text: String?) -> ChangeType {
        text.flatMap(ChangeType.init(rawValue:)) ?? .update
    }
}
