import CMicrohttpd
import CSystem
import Glibc

// MARK: Letting in

extension ServerLoop {
    func accept(_ token: UInt64) {
        guard let socket = listeners[token] else { return }
        for _ in 0..<limits.newcomers {
            let descriptor = cm_accept(socket.descriptor)
            guard descriptor >= 0 else { return rest(after: errno) }
            welcome(descriptor, at: socket.listener.door)
        }
    }

    /// Out of descriptors or memory: to ask again at once would be for nothing, and without end. Until then somebody who
    /// rests has made room, and everybody who was let in beyond the limit has.
    func rest(after code: Int32) {
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code), isAccepting else { return }
        _ = makeRoom(below: min(present, limits.connections))
        isAccepting = false
        for socket in listeners.values where !socket.listener.door.isHandedDown {
            poll.forget(socket.descriptor)
        }
        lookAgain(at: now + .milliseconds(100))
    }

    func acceptAgain() {
        guard !isAccepting else { return }
        isAccepting = true
        watchListeners()
    }

    func watchListeners() {
        for (token, socket) in listeners where !socket.listener.door.isHandedDown {
            poll.watch(socket.descriptor, CS_READABLE, as: token)
        }
    }

    func welcome(_ descriptor: Int32, at door: Door) {
        if connections.count >= limits.connections, !makeRoom(below: limits.connections) {
            return turnAway(descriptor)
        }
        guard let daemon, let peer = Peer(of: descriptor, door.kind) else {
            close(descriptor)
            return
        }
        arriving = Arrival(door: door, peer: peer)
        cm_add(daemon, descriptor)
        arriving = nil
        mustRun = true
    }

    /// Whoever has rested longest has to go, so that a crowd which asks nothing keeps nobody out, nor one
    /// that is refused and owes the body. Whose request lies here unread is no such one; a few more are
    /// let in until it has been looked at.
    ///
    /// - Returns: Whether somebody can be let in.
    private func makeRoom(below most: Int) -> Bool {
        var count = present
        var quiet = connections.values.filter { $0.isQuiet && !$0.door.isHandedDown }
        while count >= most,
            let place = quiet.indices.min(by: { quiet[$0].restedLonger(than: quiet[$1]) }),
            quiet[place].rests
        {
            let connection = quiet.remove(at: place)
            if let answer = connection.exchange?.heldBack { connection.say(answer) }
            connection.exchange?.doom()
            cut(connection)
            count -= 1
        }
        if count < most { return true }
        return !quiet.isEmpty && count < most + limits.newcomers
    }

    private var present: Int { connections.values.count { $0.phase != .cut } }

    func turnAway(_ descriptor: Int32) {
        let bytes = answer(to: .tooManyConnections).wholeForm
        cm_say(descriptor, bytes, bytes.count)
        linger(descriptor)
    }

    /// What is said to somebody whom no handler sees.
    func answer(to refusal: Refusal) -> Response {
        let response = refusal.response
        refused(response.status)
        return response
    }

    /// Takes the descriptor over.
    func linger(_ descriptor: Int32) {
        guard descriptor >= 0 else { return }
        let identity = newIdentity()
        lingering.add(descriptor, as: identity, until: now + limits.lingerTime)
        poll.watch(descriptor, CS_READABLE, as: identity)
        lookAgain(at: now + limits.lingerTime)
    }

    func newIdentity() -> UInt64 {
        nextIdentity += 1
        return nextIdentity
    }
}
