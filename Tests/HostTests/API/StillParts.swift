import Bitwarden
import Crypto
import FoundationEssentials
import JSON
import Records
import System

@testable import Host
@testable import Sync
@testable import Vault

/// A clock that moves a second on each time somebody looks.
final class StillClock: Timekeeper {
    private let origin = Date(timeIntervalSince1970: 1_700_000_000.123)
    private let looks = Lock(0)

    var now: Date { origin.addingTimeInterval(Double(looks.withLock(\.self))) }
    var elapsed: Duration { .seconds(looks.withLock(\.self)) }

    func moment() -> Moment {
        looks.withLock { $0 += 1 }
        return Moment(now)
    }

    /// Nobody waits here for something to happen; what would, waits until it is cancelled.
    func sleep(for duration: Duration) async throws(CancellationError) {
        let (stream, _) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        throw CancellationError()
    }
}

struct StillSend: Sendable {
    let id: String
    var draft: SendDraft
    let revision: Moment

    var viewed: ViewedSend {
        let raw = JSON.Raw.object { object in
            object.add("id", id)
            object.add("accessId", "access-\(id.prefix(8))")
            object.add("type", 0)
            object.add("revisionDate", revision.text)
            object.add("deletionDate", draft.deletion.text)
            object.add("expirationDate", draft.expiration?.text)
            object.add("maxAccessCount", draft.maxAccessCount)
            object.add("accessCount", 0)
            object.add("password", draft.password.map { _ in "hash" })
            object.add("disabled", draft.isDisabled)
            object.add("hideEmail", draft.hidesEmail)
            object.object("text") { $0.add("hidden", draft.isHidden) }
        }
        guard let document = try? JSON.Document(raw),
            let answer = try? SendAnswer(json: document.root)
        else { preconditionFailure("It is a send.") }
        return ViewedSend(
            answer,
            url: "\(StillDesk.server)/#/send/access/key",
            key: "key",
            name: draft.name,
            notes: draft.notes,
            text: draft.text,
            fileName: nil
        )
    }
}

extension Cipher {
    /// The same with another member.
    func with(_ name: String, _ value: (some JSON.Writable)?) -> Cipher {
        var edit = JSON.Edit(document)
        guard (try? edit.set([.member(name)], to: JSON.Raw(value))) != nil,
            let cipher = try? Cipher(edit.bytes)
        else { preconditionFailure("A cipher is an object.") }
        return cipher
    }

    func adding(attachment id: String, _ name: String, _ size: Int, _ keys: KeyRing) -> Cipher {
        let sealed: String
        do {
            let sealer = try self.sealer(in: keys, entropy: SeededChance(seed: 3))
            sealed = try sealer.seal(name)
        } catch {
            preconditionFailure("It can be sealed: \(error)")
        }
        let attachment = JSON.Raw.object {
            $0.add("id", id)
            $0.add("fileName", sealed)
            $0.add("size", String(size))
            $0.add("sizeName", "\(size) Bytes")
            $0.add("url", "https://files.example.test/\(id)")
        }
        return with("attachments", JSON.Raw([attachment]))
    }
}

extension StoredChange {
    static func still(
        _ type: ChangeType,
        _ id: String,
        _ lane: Lane,
        _ now: Moment,
        _ state: PendingChange.State = .ready,
        over baseline: Revision? = Revision("2026-01-05T08:12:44.9012345Z")
    ) -> StoredChange {
        let change = PendingChange(
            id: id,
            userID: lane.userID,
            cipherID: lane.cipherID,
            version: 1,
            intent: .hardDelete,
            baseline: nil,
            created: now,
            updated: now,
            state: state,
            lastFailure: FailureNote(kind: .rejected, message: "It will not have it.")
        )
        return StoredChange(
            summary: PendingSummary(
                sequence: 1,
                id: id,
                lane: lane,
                version: 1,
                typeText: type.rawValue,
                state: state,
                created: now,
                updated: now,
                baseline: baseline,
                passwordChanges: 2
            ),
            reading: .readable(PendingRecord(change))
        )
    }
}

extension Receipt {
    static func still(_ id: String, _ change: StoredChange) -> Receipt {
        Receipt(
            id: id,
            userID: change.summary.lane.userID,
            pendingID: change.summary.id,
            cipherID: change.summary.lane.cipherID,
            status: .queued,
            resultCipherID: nil,
            backupCipherID: nil,
            queued: change.summary.created,
            sent: nil,
            observed: nil,
            ended: nil
        )
    }

    func ended(_ status: Status) -> Receipt {
        Receipt(
            id: id,
            userID: userID,
            pendingID: pendingID,
            cipherID: cipherID,
            status: status,
            resultCipherID: cipherID,
            backupCipherID: nil,
            queued: queued,
            sent: queued,
            observed: nil,
            ended: queued
        )
    }
}

extension Setback {
    static let outOfDate = Setback(
        .stale(
            Rejection(
                status: 400,
                message: """
                    The cipher you are updating is out of date. Please save your work, sync your \
                    vault, and try again.
                    """
            )
        ),
        operation: "update cipher"
    )
}

/// Accounts that lie still, and what is told of them.
final class StillHousehold: Household {
    private struct State {
        var desks: [StillDesk] = []
        var events: [NumberedEvent] = []
        var isDrill = false
        var listeners: [AsyncStream<NumberedEvent>.Continuation] = []
        var defaultID: String?
    }

    let clock = StillClock()
    private let state = Lock(State())

    var stillDesks: [StillDesk] { state.withLock(\.desks) }
    var desks: [any AccountDesk] { stillDesks }

    func desk(_ id: String) -> (any AccountDesk)? { stillDesks.first { $0.id == id } }

    var defaultDesk: (any AccountDesk)? {
        let (desks, id) = state.withLock { ($0.desks, $0.defaultID) }
        return desks.first { $0.id == id } ?? (desks.count == 1 ? desks.first : nil)
    }

    @discardableResult
    func add(_ id: String, _ email: String) throws -> StillDesk {
        let desk = try StillDesk(id: id, email: email, clock: clock) { [weak self] in self?.tell($0)
        }
        state.withLock { $0.desks.append(desk) }
        return desk
    }

    func tell(_ event: MeshEvent) {
        state.withLock { state in
            let numbered = NumberedEvent(state.events.count + 1, event)
            state.events.append(numbered)
            for listener in state.listeners { listener.yield(numbered) }
        }
    }

    func endEvents() { state.withLock { $0.listeners.forEach { $0.finish() } } }

    func signIn(_ request: SignInRequest) async throws(DeskRefusal) -> any AccountDesk {
        guard request.password == "correct horse" else {
            throw .notAllowed("Username or password is incorrect. Try again.")
        }
        do {
            let desk = try add("9d9d9d9d-0000-4000-8000-000000000009", request.email)
            tell(.account(userID: desk.id))
            return desk
        } catch {
            throw .busy
        }
    }

    func makeDefault(_ id: String) async throws(DeskRefusal) {
        state.withLock { $0.defaultID = id }
    }

    func setServer(_ address: String, of id: String) async throws(DeskRefusal) {
        guard address.hasPrefix("https://") else { throw .notAllowed("That is no address.") }
    }

    func remove(_ id: String, discardingPending: Bool) async throws(DeskRefusal) {
        let count = stillDesks.first { $0.id == id }?.change { $0.pending.count } ?? 0
        guard count == 0 || discardingPending else {
            throw .notAllowed("\(count) changes are pending.")
        }
        state.withLock { $0.desks.removeAll { $0.id == id } }
        tell(.account(userID: id))
    }

    var network: NetworkStanding {
        let isDrill = state.withLock(\.isDrill)
        return NetworkStanding(
            isDrill: isDrill,
            state: isDrill ? .offline : .online,
            since: Moment(ticks: 17_681_155_649_012_345)
        )
    }

    func setDrill(_ isOn: Bool) async -> NetworkStanding {
        state.withLock { $0.isDrill = isOn }
        for desk in stillDesks { desk.change { $0.isAway = isOn } }
        tell(.network(upstream: StillDesk.server, isOn ? .offline : .online))
        return network
    }

    func listen(
        after number: Int?,
        where isHeard: (MeshEvent) -> Bool,
        _ body: (AsyncStream<NumberedEvent>) async throws -> Void
    ) async throws {
        let (stream, listener) = AsyncStream<NumberedEvent>.makeStream()
        state.withLock { state in
            if let number {
                for event in state.events where event.number > number { listener.yield(event) }
            }
            state.listeners.append(listener)
        }
        try await body(stream)
    }
}
