internal import Vault

/// One edit on its way.
struct Draft: Sendable {
    let wish: Repository.Wish
    let expectation: Repository.Expectation
    /// Under the id by which the client knows the item.
    let lane: Lane
    let moment: Moment
    /// The clock in that moment. Whoever waits for a turn until then has not set it.
    let clock: ClockNote
    /// The stamp under which the item is shown, where the client does not name it.
    let shown: Revision?
    /// What was pending for it then, and lay over what upstream has.
    let over: StoredChange?
    /// What had given way by then of what was made under the id, so that something else was shown there.
    let yield: Int?

    /// The stamp of what its owner has seen of upstream's copy. Content that was pending hid what upstream
    /// had, so that is no more than what it was made on. While it is still pending, the deletion takes over
    /// its baseline.
    func seen(over now: StoredChange?) -> Revision? {
        guard let over, now?.summary.id != over.summary.id,
            let hidden = over.change?.withoutIdleContent, hidden.intent.snapshot != nil
        else { return shown }
        return hidden.baseline ?? .beforeAll
    }
}
