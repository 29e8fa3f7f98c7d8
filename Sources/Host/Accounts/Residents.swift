/// The accounts that are here, by their ids and in the order in which they came.
///
/// Kept rather than put together for whoever asks, because every request may ask.
struct Residents: Sendable {
    private var byID: [String: (account: Account, number: Int)] = [:]
    private(set) var inOrder: [Account] = []

    subscript(id: String) -> Account? { byID[id]?.account }

    /// Those of these ids, in the order in which they came.
    func all(of ids: Set<String>) -> [Account] {
        ids.compactMap { byID[$0] }
            .sorted { ($0.number, $0.account.id) < ($1.number, $1.account.id) }
            .map(\.account)
    }

    /// One that was here under the same id has its place taken.
    mutating func add(_ account: Account, _ record: AccountRecord) {
        remove(account.id)
        byID[account.id] = (account, record.number)
        inOrder.insert(account, at: place(of: account.id, record.number))
    }

    mutating func remove(_ id: String) {
        guard let known = byID[id] else { return }
        inOrder.remove(at: place(of: id, known.number))
        byID[id] = nil
    }

    /// Where it is, or belongs: behind all that came earlier. Most come last.
    private func place(of id: String, _ number: Int) -> Int {
        var (low, high) = (0, inOrder.count)
        while low < high {
            let middle = (low + high) / 2
            let other = inOrder[middle].id
            let isEarlier = (byID[other]?.number ?? 0, other) < (number, id)
            if isEarlier { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
