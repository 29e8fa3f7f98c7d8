public import Sync
import Vault

/// What a writer does, step by step, and what has to be there after each step: an item is added,
/// edited twice, and thrown away before it was ever sent; then comes the next.
public enum Story {
    public static func tell(_ step: Int, of user: String, in store: Store) async throws {
        let content = snapshot(step, of: user)
        let wish: Edit.Wish =
            switch step % 4 {
            case 0: .add(content)
            case 3: .trash
            default: .update(content, changesPassword: true)
            }
        _ = try await store.record(
            Edit(wish, at: Moment(ticks: Int64(step))),
            in: Lane(userID: user, cipherID: "item-\(step / 4)"),
            as: .queued
        )
    }

    /// Whether the store holds what it held after this step; before the first that is nothing.
    public static func holds(after step: Int, of user: String, in store: Store) throws -> Bool {
        let found = try store.reader.changes(of: user).map(\.change)
        guard step >= 0, step % 4 != 3 else { return found.isEmpty }
        guard found.count == 1, let change = found[0] else { return false }
        return change.cipherID == "item-\(step / 4)"
            && change.intent.snapshot == snapshot(step, of: user)
            && change.passwordChanges == Int64(step % 4)
    }

    /// An edit that was acknowledged is there; the next may be, for it was perhaps under way.
    public static func isKept(acknowledged step: Int, of user: String, in store: Store) throws
        -> Bool
    {
        let isThere = try holds(after: step, of: user, in: store)
        return try isThere || holds(after: step + 1, of: user, in: store)
    }

    /// Long enough to lie on pages of its own.
    static func snapshot(_ step: Int, of user: String) -> Snapshot {
        let text = "{\"name\":\"2.\(user)|\(step)\",\"pad\":\"\(padding)\"}"
        let json = Array(text.utf8)
        return Snapshot(json: json, keyFingerprint: [1])
    }

    private static let padding = String(repeating: "QUJD", count: 350)
}
