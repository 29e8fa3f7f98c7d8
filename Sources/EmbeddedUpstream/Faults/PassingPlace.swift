import System

/// Lets a call wait until another has gone past it.
final class PassingPlace: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct Queue {
        var lastTicket = 0
        var waiters: [Int: Waiter] = [:]
        /// Tickets that were given back before anybody waited with them.
        var returned: Set<Int> = []
    }

    private let queue = Lock(Queue())

    /// A call has gone past.
    func pass() {
        let waiters = queue.withLock { queue in
            defer { queue.waiters = [:] }
            return queue.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume() }
    }

    func waitForAnother(atMost time: Duration, _ clock: any Timekeeper) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            group.addTask { try? await clock.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait() async {
        let ticket = queue.withLock { queue in
            queue.lastTicket += 1
            return queue.lastTicket
        }
        defer { forget(ticket) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = queue.withLock { queue in
                    if queue.returned.remove(ticket) != nil { return true }
                    queue.waiters[ticket] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            giveBack(ticket)
        }
    }

    /// Its waiter is gone, and so is what giving it back may have left.
    private func forget(_ ticket: Int) {
        queue.withLock { _ = $0.returned.remove(ticket) }
    }

    private func giveBack(_ ticket: Int) {
        let waiter = queue.withLock { queue in
            let waiter = queue.waiters.removeValue(forKey: ticket)
            if waiter == nil { queue.returned.insert(ticket) }
            return waiter
        }
        waiter?.resume()
    }
}
