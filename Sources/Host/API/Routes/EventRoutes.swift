import HTTP
import JSON
import Sync
import System
import Vault

extension VaultAPI {
    static let eventRoutes: [Route] = [
        .anybody(
            .get,
            "/events",
            Description(
                """
                What happens to all accounts, or to the one that the path or the token names; never content. Whoever \
                comes back with a Last-Event-ID after which not all is known any more hears of each account first, \
                and looks at it anew.
                """,
                answer: .events
            )
        ) { call, desk in
            let audience = try await Audience(of: call, desk)
            let household = call.api.household
            let number = call.request.lastEventNumber
            let feed = EventFeed(
                timekeeper: call.api.timekeeper,
                audience: audience,
                accounts: household.desks.count,
                renew: { try? await Audience(of: call, call.account()) }
            )
            return .events { stream in
                try await household.listen(after: number, where: audience.hears) { events in
                    try await feed.send(events, to: stream)
                }
            }
        }
    ]
}

extension Request {
    /// After which number a client wants to hear what came; one that was never given here, if what it sends is none.
    fileprivate var lastEventNumber: Int? {
        guard let text = lastEventID, !text.isEmpty else { return nil }
        return Int(text) ?? -1
    }
}

/// Whose events a client hears of: all, or those of one account and of its upstream.
struct Audience: Sendable {
    private let accountID: String?
    private let server: String?

    init(accountID: String?, server: String?) {
        self.accountID = accountID
        self.server = server
    }

    /// Whoever may ask for one account only hears nothing where that is not here any more.
    init(of call: VaultAPI.Call, _ desk: (any AccountDesk)?) async throws {
        guard call.isOfOneAccount else {
            self.init(accountID: nil, server: nil)
            return
        }
        guard let outline = try await desk?.outline else { throw DeskRefusal.noAccount }
        self.init(accountID: outline.id, server: outline.server)
    }

    func hears(_ event: MeshEvent) -> Bool {
        guard let accountID else { return true }
        return switch event {
        case .pending(let lane, _), .resolution(let lane, _, _): lane.userID == accountID
        case .sync(let userID, _), .account(let userID): userID == accountID
        case .network(let upstream, _): upstream == server
        }
    }
}

/// Tells one client what happens, for as long as it listens.
///
/// A client that is far behind is let go, and comes back to where it was by the number of the last
/// event it has seen; so nothing piles up for it here.
struct EventFeed: Sendable {
    let timekeeper: any Timekeeper
    let audience: Audience
    /// So many may have a hint each.
    var accounts = 0
    /// Whose events are heard once something about the account has changed, for then it may be on another server; nil
    /// for the same as before.
    var renew: @Sendable () async -> Audience? = { nil }

    /// How often a client hears something even if nothing happens.
    static let heartbeat = Duration.seconds(15)
    /// What it has missed comes at once, and does not count as being behind.
    private var mostWaiting: Int { EventBoard.mostAtOnce + accounts + 256 }

    private enum Letter: Sendable {
        case event(NumberedEvent)
        case heartbeat
    }

    func send(_ events: AsyncStream<NumberedEvent>, to stream: EventStream) async throws {
        let (letters, box) = AsyncStream<Letter>.makeStream(
            bufferingPolicy: .bufferingOldest(mostWaiting)
        )
        try await stream.comment("This is what happens.")
        try await withThrowingTaskGroup { writers in
            writers.addTask {
                var audience = audience
                for await event in events where audience.hears(event.event) {
                    if case .account = event.event { audience = await renew() ?? audience }
                    guard case .enqueued = box.yield(.event(event)) else { break }
                }
                box.finish()
            }
            writers.addTask { await beat(into: box) }
            for await letter in letters { try await send(letter, to: stream) }
            writers.cancelAll()
        }
    }

    private func beat(into box: AsyncStream<Letter>.Continuation) async {
        while (try? await timekeeper.sleep(for: Self.heartbeat)) != nil { box.yield(.heartbeat) }
    }

    private func send(_ letter: Letter, to stream: EventStream) async throws {
        switch letter {
        case .heartbeat: try await stream.comment()
        case .event(let numbered):
            let object = EventObject(event: numbered.event)
            let data = String(decoding: JSON.Raw(object).bytes, as: UTF8.self)
            try await stream.send(Event(data, name: object.name, id: String(numbered.number)))
        }
    }
}

/// An event as clients read it.
struct EventObject: JSON.Writable {
    let event: MeshEvent

    var name: String {
        switch event {
        case .pending: "pending"
        case .resolution: "resolution"
        case .sync: "sync"
        case .network: "network"
        case .account: "account"
        }
    }

    func write(to json: inout JSON.Writer) {
        json.object {
            switch event {
            case .pending(let lane, let id): write(lane, id, to: &$0)
            case .resolution(let lane, let id, let note):
                write(lane, id, to: &$0)
                $0.add("outcome", note.outcome.rawValue)
                $0.add("winner", note.winner?.word)
                $0.add("backupItemId", note.backupCipherID)
                $0.add("date", note.moment.text)
            case .sync(let userID, let report):
                $0.add("accountId", userID)
                $0.add("outcome", report.outcome.rawValue)
                $0.add("reason", report.reason)
                $0.add("date", report.ended.text)
            case .network(let upstream, let state):
                $0.add("server", upstream)
                $0.add("state", state.rawValue)
            case .account(let userID):
                $0.add("accountId", userID)
            }
        }
    }

    private func write(_ lane: Lane, _ id: String, to object: inout JSON.ObjectWriter) {
        object.add("accountId", lane.userID)
        object.add("pendingId", id)
        object.add("itemId", lane.cipherID)
    }
}
