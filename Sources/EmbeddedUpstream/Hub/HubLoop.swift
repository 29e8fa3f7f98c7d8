import Bitwarden
import CHub
import Glibc
import HTTP
import System

/// The connections of the hub, on one thread.
// @unchecked because all but the orders belongs to the loop's own thread, which alone reads and
// changes it.
final class HubLoop: @unchecked Sendable {
    /// Resumed when the hub is through with a connection.
    typealias Departure = CheckedContinuation<Void, Never>

    enum Order: Sendable {
        case adopt(UpgradedConnection, Session, Departure)
        case tell([Announcement])
        case cut(HubSession.Cutting)
        case hangUp
        case end

        var isEnd: Bool { if case .end = self { true } else { false } }
    }

    private struct Connection {
        let descriptor: Int32
        let departure: Departure
        var session: HubSession
        var outgoing: [UInt8] = []
        var isLeaving = false
    }

    /// More than that nobody is let to fall behind.
    private static let patience = 4_194_304
    private static let wakerName: UInt64 = 0
    private static let beat = Duration.seconds(15)

    private let set: Int32
    private let waker: Int32
    private let habits: HubHabits
    private let time: any Timekeeper
    /// `nil` after the end.
    private let orders = Lock<[Order]?>([])

    private var connections: [UInt64: Connection] = [:]
    /// The connections of each user: what happens to one concerns nobody else's.
    private var names: [String: [UInt64]] = [:]
    private var lastName = wakerName
    private var cutting = HubSession.Cutting.whole
    private var nextBeat = Duration.zero
    private var beats = 0

    init(_ habits: HubHabits, _ time: any Timekeeper) throws(SystemError) {
        set = try system("wait for the hub's connections") { chub_set() }
        waker = try system("wake the hub") { chub_waker() }
        self.habits = habits
        self.time = time
        _ = chub_watch(set, waker, Self.wakerName)
        nextBeat = time.elapsed + Self.beat
    }

    deinit {
        for descriptor in [set, waker] { Glibc.close(descriptor) }
    }

    /// - Returns: Whether it will be carried out; not after the order to end.
    @discardableResult
    func post(_ order: Order) -> Bool {
        let isHeard = orders.withLock { orders in
            orders?.append(order)
            return orders != nil
        }
        if isHeard { chub_wake(waker) }
        return isHeard
    }

    /// Returns after the order to end.
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
        if event.name == Self.wakerName { return chub_calm(waker) }
        if event.writable != 0 { flush(event.name) }
        if event.readable != 0 { read(event.name) }
    }

    private func adopt(
        _ adopted: UpgradedConnection,
        _ session: Session,
        _ departure: Departure
    ) {
        lastName += 1
        connections[lastName] = Connection(
            descriptor: adopted.descriptor,
            departure: departure,
            session: HubSession(habits, session)
        )
        names[session.userID, default: []].append(lastName)
        chub_hurry(adopted.descriptor)
        _ = chub_watch(set, adopted.descriptor, lastName)
        act(connections[lastName]?.session.received(adopted.received) ?? [], lastName)
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
        let userID = connection.session.session.userID
        names[userID]?.removeAll { $0 == name }
        if names[userID]?.isEmpty == true { names[userID] = nil }
        chub_forget(set, connection.descriptor)
        connection.departure.resume()
    }

    /// - Returns: Whether that was the last one.
    private func carryOutOrders() -> Bool {
        let orders = orders.withLock { orders in
            let taken = orders ?? []
            orders = taken.contains(where: \.isEnd) ? nil : []
            return taken
        }
        for order in orders {
            switch order {
            case .adopt(let connection, let session, let departure):
                adopt(connection, session, departure)
            case .tell(let announcements): tell(announcements)
            case .cut(let cutting): self.cutting = cutting
            case .hangUp: dropAll()
            case .end: break
            }
        }
        guard orders.contains(where: \.isEnd) else { return false }
        dropAll()
        return true
    }

    private func dropAll() {
        for name in connections.keys.map({ $0 }) { drop(name) }
    }

    private func tell(_ announcements: [Announcement]) {
        for announcement in announcements {
            let frame = HubMessage.event(announcement.event).frame(habits.timestamps)
            for name in Set(announcement.userIDs).flatMap({ names[$0] ?? [] }) {
                let deviceID = connections[name]?.session.session.deviceID
                guard announcement.sparedDeviceID != deviceID else { continue }
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
