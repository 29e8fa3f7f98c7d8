import CMicrohttpd
import CSystem
import Glibc

// MARK: Letting in

extension ServerLoop {
    static let acceptedAtOnce = 64

    func accept(_ token: UInt64) {
        guard let socket = listeners[token] else { return }
        for _ in 0..<Self.acceptedAtOnce {
            let descriptor = cm_accept(socket.descriptor)
            guard descriptor >= 0 else { return rest(after: errno) }
            welcome(descriptor, at: socket.listener.door)
        }
    }

    /// Out of descriptors or memory: to ask again at once would be for nothing, and without end.
    func rest(after code: Int32) {
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code), isAccepting else { return }
        isAccepting = false
        for socket in listeners.values { poll.forget(socket.descriptor) }
        lookAgain(at: now + .milliseconds(100))
    }

    func acceptAgain() {
        guard !isAccepting else { return }
        isAccepting = true
        for (token, socket) in listeners { poll.watch(socket.descriptor, CS_READABLE, as: token) }
    }

    func welcome(_ descriptor: Int32, at door: Door) {
        guard connections.count < limits.connections else { return turnAway(descriptor) }
        guard let daemon, let peer = Peer(of: descriptor, door.kind) else {
            close(descriptor)
            return
        }
        arriving = Arrival(door: door, peer: peer)
        cm_add(daemon, descriptor)
        arriving = nil
        mustRun = true
    }

    func turnAway(_ descriptor: Int32) {
        let bytes = Refusal.tooManyConnections.response.wholeForm
        cm_say(descriptor, bytes, bytes.count)
        linger(descriptor)
    }

    /// Takes the descriptor over.
    func linger(_ descriptor: Int32) {
        guard descriptor >= 0 else { return }
        guard !lingering.isFull else {
            close(descriptor)
            return
        }
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
