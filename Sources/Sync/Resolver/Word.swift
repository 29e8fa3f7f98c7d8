internal import Vault

/// What an errand knows of its last attempt and has not written down yet.
struct Word {
    var conclusion: Attempt.Outcome?
    /// What became of the last one before an edit came in between.
    private(set) var concluded: Attempt?
    /// That nobody had answered it.
    var silence: Silence?

    var isEmpty: Bool { conclusion == nil && concluded == nil && silence == nil }

    /// Whoever has edited the change has put others of its attempts last.
    mutating func keep(from change: PendingChange) {
        concluded = conclusion.flatMap { change.lastAttempt(concluded: $0) } ?? concluded
        conclusion = nil
    }

    func write(into change: inout PendingChange) {
        if let concluded { change.conclude(concluded) }
        if let conclusion { change.concludeAttempt(conclusion) }
        if let silence { change.note(silence) }
    }
}
