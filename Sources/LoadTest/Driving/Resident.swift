/// One of the users: the account in the host, and the other device.
struct Resident: Sendable {
    let user: Int
    /// The account's id in the host.
    let account: String
    let device: OtherDevice
}

/// What a user was told of the edits of a round.
struct UserLedger: Sendable {
    let resident: Resident
    let plan: UserPlan
    private(set) var outcomes: [Outcome]
    /// Whether upstream took the other device's edits.
    private(set) var foreignTaken: [Bool]
    /// By thing.
    private(set) var ids: [Int: String]
    let olderPasswords: Set<String>

    /// Begins with what upstream holds.
    init(_ resident: Resident, _ plan: UserPlan, _ items: [FoundItem]) {
        self.resident = resident
        self.plan = plan
        outcomes = Array(repeating: .untried, count: plan.edits.count)
        foreignTaken = Array(repeating: false, count: plan.foreign.count)
        ids = Dictionary(uniqueKeysWithValues: items.enumerated().map { ($0, $1.id) })
        olderPasswords = Set(items.flatMap(\.history))
    }

    mutating func note(_ reply: HostSide.Reply, of number: Int) {
        outcomes[number] = reply.outcome
        if let id = reply.madeID { ids[plan.edits[number].thing] = id }
    }

    mutating func noteForeign(_ number: Int) { foreignTaken[number] = true }
}
