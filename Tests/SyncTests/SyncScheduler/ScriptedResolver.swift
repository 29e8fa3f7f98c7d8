import Messaging
import System
import Vault

@testable import Sync

/// A resolver that pushes what is due, a slice at a time, to a scripted upstream.
final class ScriptedResolver: Service {
    struct Ask: Hashable, Sendable {
        let run: Resolver.Run
        let at: Duration
    }

    struct Script: Sendable {
        var asks: [Ask] = []
        var atOnce = 0
        var mostAtOnce = 0
        /// Changes that upstream refuses: each try puts them off by so much.
        var poison: [String: Duration] = [:]
        /// What is answered instead of doing anything.
        var answer: (@Sendable () async -> Result<RunReport, StoreError>)?
        /// The reply is let go of.
        var isSilent = false
    }

    let script = Lock(Script())
    var address: Address<Resolver.Message> { mailbox.address }
    private let mailbox = Mailbox<Resolver.Message>(name: "resolver")
    private let store: Store
    private let upstream: ScriptedUpstream
    private let time: any Timekeeper

    init(_ store: Store, _ upstream: ScriptedUpstream, time: any Timekeeper) {
        self.store = store
        self.upstream = upstream
        self.time = time
    }

    var asks: [Resolver.Run] { script.withLock { $0.asks.map(\.run) } }

    func edit(_ body: @Sendable (inout Script) -> Void) { script.withLock { body(&$0) } }

    func close() { mailbox.close() }

    /// Answers side by side, so that nothing but the scheduler keeps two runs apart.
    func run() async {
        await withDiscardingTaskGroup { runs in
            for await message in mailbox {
                if case .run(let run, let reply) = message {
                    runs.addTask { await self.answer(run, reply) }
                }
            }
        }
    }

    private func answer(_ run: Resolver.Run, _ reply: Resolver.Answer<RunReport>) async {
        let script = script.withLock {
            $0.asks.append(Ask(run: run, at: time.elapsed))
            $0.atOnce += 1
            $0.mostAtOnce = max($0.mostAtOnce, $0.atOnce)
            return $0
        }
        defer { self.script.withLock { $0.atOnce -= 1 } }
        if script.isSilent { return }
        if let answer = script.answer {
            reply.answer(await answer())
        } else {
            await reply.answer { () async throws(StoreError) in try await push(run) }
        }
    }

    private func push(_ run: Resolver.Run) async throws(StoreError) -> RunReport {
        var report = RunReport()
        let changes = try store.reader.changes(of: Shelf.user).compactMap(\.change)
        for change in changes.filter({ run.reaches($0, at: Moment(time.now)) }).prefix(50) {
            let ticks: Int
            do throws(Setback) {
                ticks = try await upstream.push(change.cipherID, run.urgency)
            } catch {
                report.stop = error
                return report
            }
            report.tried += 1
            if try await settle(change, ticks) { report.settled += 1 }
        }
        return report
    }

    private func settle(_ change: PendingChange, _ ticks: Int) async throws(StoreError) -> Bool {
        let now = Moment(time.now)
        if let pause = script.withLock({ $0.poison[change.cipherID] }) {
            let until = now + pause
            _ = try await store.update(change.id, expecting: change.version) {
                $0.state = .backingOff(until: until)
                $0.failures += 1
            }
            return false
        }
        let settlement = Settlement(
            upstream: .holds(Shelf.base(change.cipherID, ticks: ticks)),
            receipts: ReceiptEnd(.sent, at: now, resultCipherID: change.cipherID)
        )
        let lane = Shelf.lane(change.cipherID)
        _ = try await store.settle(change.id, in: lane, expecting: change.version, settlement)
        return true
    }
}

extension Resolver.Run {
    fileprivate func reaches(_ change: PendingChange, at now: Moment) -> Bool {
        switch (reach, change.state) {
        case (.only(let id), _): change.id == id
        case (_, .quarantined), (_, .inFlight): false
        case (.all, _), (.due, .ready): true
        case (.due, .backingOff(let until)): until <= now
        }
    }
}

extension Result where Success == RunReport, Failure == StoreError {
    static var nothingDone: Self { .success(RunReport()) }
}
