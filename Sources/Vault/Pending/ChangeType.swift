/// What a pending change is called where it is shown and counted.
public enum ChangeType: String, CaseIterable, Hashable, Sendable {
    case create
    case update
    case softDelete
    case hardDelete
    /// A restore or an archiving, without content or trash.
    case other

    /// What the store calls an update of folder or favourite, which has no content of its own.
    static let placeText = "place"

    /// What is shown for a type as it was found. Absent and unknown text reads as an update; only
    /// the eye may be content with that, see ``PendingChange/foreignType``.
    public static func shown(for text: String?) -> ChangeType {
        text.flatMap(ChangeType.init(rawValue:)) ?? .update
    }
}
