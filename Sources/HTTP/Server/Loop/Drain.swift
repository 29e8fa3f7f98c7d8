import CMicrohttpd
import System

/// What became of the exchanges that were under way when a server was stopped.
public struct DrainReport: Sendable, Equatable {
    /// Exchanges that took too long and were cut off.
    public internal(set) var cut = 0
    /// Handlers that have not heeded their cancellation. They keep the server's thread until they
    /// do.
    public internal(set) var stillRunning = 0
}

/// How a server comes to its end.
enum Drain {
    case none
    /// Nobody is let in; what is under way may finish.
    case finishing(until: Duration)
    /// What is still there has been cut off; its handlers get a moment to notice.
    case cutting(until: Duration)
    case reported
}

extension ServerLoop {
    var isDraining: Bool {
        if case .none = drain { false } else { true }
    }

    var isOver: Bool {
        isDraining && connections.isEmpty && handlers == 0
    }

    var drainDeadline: Duration? {
        switch drain {
        case .finishing(let until), .cutting(let until): until
        case .none, .reported: nil
        }
    }

    /// A request that is on its way already is still answered. What was upgraded has no requests that
    /// could be finished.
    func cutIfIdle(_ connection: Connection) {
        if let exchange = connection.upgraded {
            connection.cut()
            return exchange.doom()
        }
        guard connection.exchange == nil, cm_unread(connection.descriptor) <= 0 else { return }
        cut(connection)
    }

    func goOnDraining() {
        guard let deadline = drainDeadline, deadline <= now else { return }
        switch drain {
        case .finishing: cutAll()
        case .cutting: reportStillRunning()
        case .none, .reported: break
        }
    }

    func cutAll() {
        for connection in connections.values {
            if let exchange = connection.exchange {
                report.cut += 1
                exchange.doom()
            }
            cut(connection)
        }
        drain = .cutting(until: now + .seconds(1))
        lookAgain(at: now + .seconds(1))
    }

    func reportStillRunning() {
        drain = .reported
        report.stillRunning = handlers
        let waiting = orders.withLock { orders in
            orders.told = report
            defer { orders.waitingForEnd = [] }
            return orders.waitingForEnd
        }
        for continuation in waiting { continuation.resume(returning: report) }
    }
}
