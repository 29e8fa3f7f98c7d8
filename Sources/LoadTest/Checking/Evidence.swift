/// What became of an edit, as far as whoever made it was told.
enum Outcome: Hashable, Sendable {
    /// Answered with success: from then on it must not be lost.
    case acknowledged
    /// Answered otherwise, with that status: it must not turn up.
    case refused(status: Int, String)
    /// Nobody answered, or with 500, which the host says when it does not know: it may turn up or not.
    case unknown
    /// Never sent.
    case untried
}

/// An item as upstream holds it in the end, opened.
struct FoundItem: Hashable, Sendable {
    var id: String
    var content: Content
    var isInTrash = false
    /// Earlier passwords.
    var history: [String] = []
}

/// Everything that is known of one user when a round is over.
struct UserEvidence: Sendable {
    var user: Int
    var plan: UserPlan
    /// Of each edit of the plan.
    var outcomes: [Outcome]
    /// Of each edit of the other device, whether upstream took it.
    var foreignTaken: [Bool]
    /// By thing, as far as they are known.
    var ids: [Int: String] = [:]
    /// Passwords that were in a history before the round began.
    var olderPasswords: Set<String> = []
    var found: [FoundItem]
    /// Whether the host knew of all that others had written before the round.
    var beganFresh = true
    /// Items upstream that could not be opened.
    var unreadable: [String] = []
    /// What the host shows in the end, by id; nil if it was not asked.
    var shown: [String: String]?
}
