import System

/// Which faults have been ordered, and which of them a call meets. Decides, does nothing.
struct FaultDesk: Sendable {
    struct Order: Sendable {
        let number: Int
        let fault: Fault
        /// Calls that matched, and of those the ones that were hit.
        var seen = 0
        var hits = 0
    }

    private(set) var orders: [Order] = []
    private var lastNumber = 0

    mutating func add(_ fault: Fault) -> Int {
        lastNumber += 1
        orders.append(Order(number: lastNumber, fault: fault))
        return lastNumber
    }

    mutating func remove(_ number: Int) -> Bool {
        let count = orders.count
        orders.removeAll { $0.number == number }
        return orders.count < count
    }

    mutating func removeAll() {
        orders = []
    }

    /// The effect of the first order that hits. All that match count the call.
    mutating func effect(
        on operation: Operation,
        of account: (id: String, email: String)?,
        _ chance: some Chance
    ) -> Fault.Effect? {
        var hit: Fault.Effect?
        for index in orders.indices where orders[index].fault.matches(operation, account) {
            orders[index].seen += 1
            guard hit == nil, orders[index].isDue else { continue }
            let fault = orders[index].fault
            guard fault.probability >= 1 || chance.fraction() < fault.probability else { continue }
            orders[index].hits += 1
            hit = fault.effect
        }
        return hit
    }
}

extension FaultDesk.Order {
    fileprivate var isDue: Bool {
        guard seen >= fault.first else { return false }
        // With chance in play, it is the hits that are counted: so many calls are to be hit.
        return fault.times.map { hits < $0 } ?? true
    }
}

extension Fault {
    fileprivate func matches(
        _ operation: Operation,
        _ account: (id: String, email: String)?
    ) -> Bool {
        if let wanted = self.operation, wanted != operation { return false }
        guard let wanted = self.account else { return true }
        return account.map { $0.id == wanted || $0.email == wanted.lowercased() } ?? false
    }
}
