import Bitwarden
import CHub
import Glibc
import HTTP
import System

/// The connections of the hub, on one thread.
// @unchecked because all but the orders belongs to the loop's own thread, which alone reads and
// changes it.
final class HubLoop: @unchecked Sendable {
    enum Order: Sendable {
        case tell([Announcement])
        case admit(connection: UInt64, Session?)
        case cut(HubSession.Cutting)
        case hangUp
        case end
    }

    private struct Connection {
        let descriptor: Int32
        var session: HubSession
        var outgoing: [UInt8] = []
        var isLeaving = false
    }

    /// More than that nobody is let to fall behind.
    private static let patience = 4_194_304
    private static let listenerName: UInt64 = 0
    private static let wakerName: UInt64 = 1
    private static let beat = Duration.seconds(15)

    private var listener: Int32
    private let set: Int32
    private let waker: Int32
    private let habits: HubHabits
    private let time: any Timekeeper
    private let knock: @Sendable (UInt64, String) -> Void
    private let orders = Lock<[Order]>([])

    private var connections: [UInt64: Connection] = [:]
    private var lastName: UInt64
    private var cutting = HubSession.Cutting.whole
    private var nextBeat = Duration.zero
    private var beats = 0

    /// - Parameters:
    ///   - generation: Another for every loop, so that no two connections ever have one name.
    ///   - knock: Told who wants to come in: the connection and its access token.
    init(
        _ address: SocketAddress,
        generation: UInt64,
        _ habits: HubHabits,
        _ time: any Timekeeper,
        knock: @escaping @Sendable (UInt64, String) -> Void
    ) throws(SystemError) {
        listener = try system("listen on \(address)") {
            chub_listen(address.host, Int32(address.port))
        }
        set = chub_set()
        waker = chub_waker()
        lastName = generation << 32 | Self.wakerName
        self.habits = habits
        self.time = time
        self.knock = knock
        _ = chub_watch(set, listener, Self.listenerName, 0)
        _ = chub_watch(set, waker, Self.wakerName, 0)
        nextBeat = time.elapsed + Self.beat
    }

    deinit {
        for descriptor in [listener, set, waker] where descriptor >= 0 {
            Glibc.close(descriptor)
        }
    }

    /// Only before it runs.
    var port: Int { Int(chub_port(listener)) }

    func post(_ order: Order) {
        orders.withLock { $0.append(order) }
        chub_wake(waker)
    }

    /// Returns after the order to end, with nothing left open at the address.
    func run() {
        var events = [chub_event](repeating: chub_event(), count: 64)
        while true {
            let rest = max(.zero, nextBeat - time.elapsed)
            let count = chub_wait(set, &events, 64, Int32(rest / .milliseconds(1)) + 1)
            for event in events.prefix(Int(count)) { handle(event) }
            if carryOutOrders() { return }
            beatIfDue()
        }
    }

    private func handle(_ event: chub_event) {
        switch event.name {
        case Self.listenerName: acceptAll()
        case Self.wakerName: chub_calm(waker)
        default:
            if event.writable != 0 { flush(event.name) }
            if event.readable != 0 { read(event.name) }
        }
    }

    private func acceptAll() {
        while true {
            let descriptor = chub_accept(listener)
            guard descriptor >= 0 else { return }
            lastName += 1
            connections[lastName] = Connection(
                descriptor: descriptor,
                session: HubSession(habits)
            )
            _ = chub_watch(set, descriptor, lastName, 0)
        }
    }

    private func read(_ name: UInt64) {
        guard let connection = connections[name] else { return }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = bytes.withUnsafeMutableBytes {
            recv(connection.descriptor, $0.baseAddress, $0.count, 0)
        }
        if count > 0 {
            act(connections[name]?.session.received(Array(bytes[..<count])) ?? [], name)
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            drop(name)
        }
    }

    private func act(_ acts: [HubSession.Act], _ name: UInt64) {
        for act in acts {
            switch act {
            case .send(let bytes): connections[name]?.outgoing += bytes
            case .knock(let token): knock(name, token)
            case .close: connections[name]?.isLeaving = true
            }
        }
        if !acts.isEmpty { flush(name) }
    }

    private func flush(_ name: UInt64) {
        guard var connection = connections[name] else { return }
        while !connection.outgoing.isEmpty {
            let count = connection.outgoing.withUnsafeBytes {
                send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            connection.outgoing.removeFirst(count)
        }
        connections[name] = connection
        let isBehind = !connection.outgoing.isEmpty
        if connection.outgoing.count > Self.patience || (connection.isLeaving && !isBehind) {
            return drop(name)
        }
        _ = chub_change(set, connection.descriptor, name, isBehind ? 1 : 0)
    }

    private func drop(_ name: UInt64) {
        guard let connection = connections.removeValue(forKey: name) else { return }
        Glibc.close(connection.descriptor)
    }

    /// - Returns: Whether that was the last one.
    private func carryOutOrders() -> Bool {
        let orders = orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
        for order in orders {
            switch order {
            case .tell(let announcements): tell(announcements)
            case .admit(let name, let session):
                act(connections[name]?.session.admitted(session) ?? [], name)
            case .cut(let cutting): self.cutting = cutting
            case .hangUp: dropAll()
            case .end:
                dropAll()
                Glibc.close(listener)
                listener = -1
                return true
            }
        }
        return false
    }

    private func dropAll() {
        for name in connections.keys.map({ $0 }) { drop(name) }
    }

    private func tell(_ announcements: [Announcement]) {
        for announcement in announcements {
            let frame = HubMessage.event(announcement.event).frame(habits.timestamps)
            for (name, connection) in connections {
                guard let session = connection.session.session,
                    announcement.userIDs.contains(session.userID),
                    announcement.sparedDeviceID != session.deviceID
                else { continue }
                act(connections[name]?.session.told(frame, cutting) ?? [], name)
            }
        }
    }

    private func beatIfDue() {
        guard time.elapsed >= nextBeat else { return }
        nextBeat = time.elapsed + Self.beat
        beats += 1
        for name in connections.keys.map({ $0 }) {
            let acts = connections[name]?.session.signOfLife(isHeartbeat: beats % 8 == 0)
            act(acts ?? [], name)
        }
    }
}
