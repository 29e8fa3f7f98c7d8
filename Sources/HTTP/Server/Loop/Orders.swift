import System

// MARK: Orders from elsewhere

extension ServerLoop {
    /// Has a parked exchange looked at again. From any thread.
    func rouse(_ exchange: Exchange) {
        orders.withLock { $0.roused.append(exchange) }
        if !executor.isOnLoop { bell.ring() }
    }

    func rouseAll() {
        while true {
            let roused = orders.withLock { orders in
                defer { orders.roused.removeAll(keepingCapacity: true) }
                return orders.roused
            }
            if roused.isEmpty { return }
            for exchange in roused { exchange.wake() }
        }
    }

    /// Stops the loop, and returns when that is done.
    func stop(within time: Duration) async -> DrainReport {
        await withCheckedContinuation { continuation in
            let end = orders.withLock { orders -> DrainReport? in
                let report = orders.end ?? orders.told
                if report == nil { orders.waitingForEnd.append(continuation) }
                orders.drainTime = orders.drainTime ?? time
                return report
            }
            if let end { continuation.resume(returning: end) } else { bell.ring() }
        }
    }

    /// Has the loop look at the time.
    func nudge() { bell.ring() }

    /// Returns once there is no connection and no handler.
    func quiet() async {
        await withCheckedContinuation { continuation in
            let isOver = orders.withLock { orders in
                if orders.end == nil { orders.waitingForQuiet.append(continuation) }
                return orders.end != nil
            }
            if isOver { continuation.resume() } else { bell.ring() }
        }
    }

    /// Whether its thread is through with it. From any thread.
    var hasEnded: Bool { orders.withLock { $0.end != nil } }

    func answerQuiet() {
        guard connections.isEmpty, handlers == 0, lingering.isEmpty else { return }
        let waiting = orders.withLock { orders in
            defer { orders.waitingForQuiet = [] }
            return orders.waitingForQuiet
        }
        for continuation in waiting { continuation.resume() }
    }

    func obeyOrders() {
        guard case .none = drain, let time = orders.withLock(\.drainTime) else { return }
        drain = .finishing(until: now + time)
        lookAgain(at: now + time)
        for socket in listeners.values {
            poll.forget(socket.descriptor)
            socket.close()
        }
        listeners = [:]
        for connection in connections.values { cutIfIdle(connection) }
    }
}
