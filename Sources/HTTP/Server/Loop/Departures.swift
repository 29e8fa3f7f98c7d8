import CMicrohttpd

// MARK: Clients that move, or do not

extension ServerLoop {
    /// Has the exchange rest once the library's run is over, unless there is something to do by then.
    func restAfterRun(_ exchange: Exchange) { restless.append(exchange) }

    /// Gives a handler time; as much as it takes, but not for a client that may have left.
    func leaveAlone(_ connection: Connection) {
        guard connection.isHalfClosed else { return connection.enter(.handling, until: nil) }
        connection.enter(.waning, until: now + limits.halfClosedTime)
        look(at: connection)
    }

    /// Has the connection's deadline looked at when it is due.
    func look(at connection: Connection) {
        if let deadline = connection.deadline { lookAgain(at: deadline) }
    }

    func lookAgain(at moment: Duration) {
        nextLook = min(nextLook ?? moment, moment)
    }

    func peerMoved(_ connection: Connection, _ event: Poll.Event) {
        if event.hasHungUp {
            connection.exchange?.doom()
            return
        }
        connection.isHalfClosed = true
        halfClosed[connection.identity] = connection
        if connection.phase == .handling { leaveAlone(connection) }
    }

    /// Ends connections whose clients owe the next word and will not say it. The library does not
    /// notice when the end came together with the last bytes.
    func partFromSilent() {
        guard !mustRun, patienceWithLibrary == 0 else { return }
        for connection in halfClosed.values
        where connection.isClientsTurn && cm_unread(connection.descriptor) <= 0 {
            cut(connection)
        }
    }

    func cut(_ connection: Connection) {
        connection.cut()
        leaving.append(connection)
    }

    /// Has the library look at the ends that were made. It hears of a socket's end once, and if that
    /// was while it had no eyes for it (the client left while a handler was at work), shutting the
    /// socket down is no news, and the connection would stay for ever.
    func seeOff() {
        for connection in leaving
        where connections[connection.identity] != nil && connection.exchange == nil
            && connection.upgraded == nil
        {
            cm_look_again(connection.handle)
            mustRun = true
        }
        leaving.removeAll(keepingCapacity: true)
    }

    static let shortestRest = Duration.milliseconds(100)

    func lookAtDeadlines() {
        guard let due = nextLook, due <= now else { return }
        acceptAgain()
        lingering.endAll(before: now)
        nextLook = [lingering.nextDeadline, drainDeadline].compactMap(\.self).min()
        for connection in connections.values {
            guard let deadline = connection.deadline else { continue }
            if deadline <= now { expire(connection) } else { lookAgain(at: deadline) }
        }
        // Thousands of deadlines close to each other are looked at together.
        nextLook = nextLook.map { max($0, now + Self.shortestRest) }
    }

    func expire(_ connection: Connection) {
        switch connection.phase {
        case .waning: connection.exchange?.doom()
        case .head where connection.exchange == nil: cut(connection)
        case .head: dismiss(connection, with: answer(to: .tooSlow))
        // Its handler answers as well, to nobody.
        case .body: dismiss(connection, with: Refusal.tooSlow.response)
        case .answering where connection.exchange?.isBeingTaken() == true: break
        case .idle, .answering, .dismissed:
            connection.exchange?.doom()
            cut(connection)
        case .handling, .upgraded, .cut: break
        }
    }

    private func dismiss(_ connection: Connection, with response: Response) {
        connection.dismiss(with: response, until: now + limits.lingerTime)
        look(at: connection)
        connection.exchange?.doom()
    }
}
