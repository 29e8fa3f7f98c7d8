internal import Vault

/// What an errand knows of its last attempt and has not written down yet.
struct Word {
    private(set) var conclusion: Attempt.Outcome?
    /// The content that upstream has taken with it, if it was some.
    private var taken: Cipher?
    /// What became of the last one before an edit came in between.
    private(set) var concluded: Attempt?
    /// That nobody had answered it.
    var silence: Silence?

    var isEmpty: Bool { conclusion == nil && concluded == nil && silence == nil }

    /// - Parameter content: What was sent.
    mutating func conclude(_ outcome: Attempt.Outcome, of content: Cipher?) {
        (conclusion, taken) = (outcome, outcome == .accepted ? content : nil)
    }

    /// Whoever has edited the change has put others of its attempts last.
    mutating func keep(from change: PendingChange) {
        concluded =
            conclusion.flatMap { change.lastAttempt(concluded: $0, taking: taken) } ?? concluded
        (conclusion, taken) = (nil, nil)
    }

    func write(into change: inout PendingChange) {
        if let concluded { change.conclude(concluded) }
        if let conclusion { change.concludeAttempt(conclusion, taking: taken) }
        if let silence { change.note(silence) }
    }
}
