/// The accounts that are here, by their ids and in the order in which they came.
///
/// Kept rather than put together for whoever asks, because every request may ask.
struct Residents: Sendable {
    private var byID: [String: (account: Account, number: Int)] = [:]
    private(set) var inOrder: [Account] = []
    /// How many are on each link, by its number.
    private var counts: [Int: Int] = [:]

    subscript(id: String) -> Account? { byID[id]?.account }

    /// Those of these ids, in the order in which they came.
    func all(of ids: Set<String>) -> [Account] {
        ids.compactMap { byID[$0] }
            .sorted { ($0.number, $0.account.id) < ($1.number, $1.account.id) }
            .map(\.account)
    }

    func areOn(_ link: ServerLink) -> Bool { counts[link.number, default: 0] > 0 }

    /// One that was here under the same id has its place taken.
    mutating func add(_ account: Account, _ record: AccountRecord) {
        remove(account.id)
        byID[account.id] = (account, record.number)
        inOrder.insert(account, at: place(of: account.id, record.number))
        counts[account.link.number, default: 0] += 1
    }

    mutating func remove(_ id: String) {
        guard let known = byID[id] else { return }
        inOrder.remove(at: place(of: id, known.number))
        byID[id] = nil
        let number = known.account.link.number
        counts[number] = counts[number].flatMap { $0 > 1 ? $0 - 1 : nil }
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
