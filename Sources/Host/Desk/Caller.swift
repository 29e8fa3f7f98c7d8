/// Who asks, once the gate has let them in.
public struct Caller: Hashable, Sendable {
    public enum Scope: String, CaseIterable, Hashable, Sendable {
        case read, write, admin
    }

    public var scope: Scope
    /// The only account that they may ask for; nil for all.
    public var accountID: String?

    public init(_ scope: Scope, accountID: String? = nil) {
        self.scope = scope
        self.accountID = accountID
    }
}
