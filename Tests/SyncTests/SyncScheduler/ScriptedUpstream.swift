import Messaging
import Sync
import System
import Vault

/// An upstream that holds stamps, counts what it is asked, and fails as it is told.
final class ScriptedUpstream: VaultUpstream {
    struct Call: Hashable, Sendable {
        let name: String
        let at: Duration
        let urgency: Urgency
    }

    struct Script: Sendable {
        var ciphers: [String: Int] = ["a": 10]
        /// What it says of a cipher that is asked for alone; nil if that is what it lists.
        var single: [String: Int]?
        var revision: Int64? = 1
        var switches = Switches.on
        var profileID: String? = "user-1"
        var latency = Duration.zero
        /// Asked before every answer; what it gives is thrown.
        var failure: @Sendable (_ call: String, _ at: Duration) -> Setback.Reason? = { _, _ in nil }
        /// Done while a sync answer is under way, after it was made.
        var meanwhile: @Sendable () async -> Void = {}
        var calls: [Call] = []
    }

    let script = Lock(Script())
    let time: any Timekeeper
    /// Who hears of what was found out about the network.
    let monitor = Lock<Address<NetworkMonitor.Message>?>(nil)

    init(time: any Timekeeper) { self.time = time }

    var calls: [Call] { script.withLock { $0.calls } }
    var names: [String] { calls.map(\.name) }

    func edit(_ body: @Sendable (inout Script) -> Void) { script.withLock { body(&$0) } }

    func isDown(_ down: Bool) {
        edit { $0.failure = { _, _ in down ? .unreachable(.tried("no route")) : nil } }
    }

    private func answer(_ name: String, _ urgency: Urgency) async throws(Setback) {
        let call = Call(name: name, at: time.elapsed, urgency: urgency)
        let (latency, failure) = script.withLock {
            $0.calls.append(call)
            return ($0.latency, $0.failure(name, call.at))
        }
        if latency > .zero {
            do throws(CancellationError) {
                try await time.sleep(for: latency)
            } catch {
                throw Setback(.cancelled, operation: name)
            }
        }
        let evidence = failure.map(\.evidence) ?? .answered
        if let evidence, let monitor = monitor.withLock({ $0 }) {
            try? await monitor.tell(.heard(evidence))
        }
        if let failure { throw Setback(failure, operation: name) }
    }

    /// What a resolver does with a change here.
    func push(_ id: String, _ urgency: Urgency) async throws(Setback) -> Int {
        try await answer("push", urgency)
        return script.withLock {
            $0.revision = $0.revision.map { $0 + 1 }
            $0.ciphers[id] = ($0.ciphers[id] ?? 10) + 1
            return $0.ciphers[id] ?? 0
        }
    }

    func probe() async -> Evidence {
        let failure = script.withLock {
            $0.calls.append(Call(name: "probe", at: time.elapsed, urgency: .patient))
            return $0.failure("probe", time.elapsed)
        }
        return failure.flatMap(\.evidence) ?? .answered
    }

    func revision(_ urgency: Urgency) async throws(Setback) -> Int64? {
        try await answer("revision", urgency)
        return script.withLock { $0.revision }
    }

    func fetch(_ urgency: Urgency, asOf _: Int64?) async throws(Setback) -> Fetched {
        try await fetch(urgency)
    }

    func fetch(_ urgency: Urgency) async throws(Setback) -> Fetched {
        let script = script.withLock { $0 }
        try await answer("fetch", urgency)
        await script.meanwhile()
        return Fetched(
            picture: SyncPicture(
                profileID: script.profileID,
                ciphers: script.ciphers.mapValues { Shelf.moment($0) },
                accountRevision: script.revision
            ),
            ciphers: script.ciphers.map { Shelf.base($0.key, ticks: $0.value) },
            slices: [BaseSlice(.profile, json: [1])]
        )
    }

    func switches(_ urgency: Urgency) async throws(Setback) -> Switches {
        try await answer("switches", urgency)
        return script.withLock { $0.switches }
    }

    var leastClockOffset: Int64? { nil }

    /// The scheduler changes no single cipher; whoever does is told so.
    private static func notAsked(_ what: String) -> Setback {
        Setback(.malformed("A scheduler does not do that."), operation: what)
    }

    func cipher(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await answer("cipher", urgency)
        guard let ticks = script.withLock({ ($0.single ?? $0.ciphers)[id] }) else {
            throw Setback(.missing(Rejection(status: 404, message: "")), operation: "cipher")
        }
        let second = ticks / Int(Moment.ticksPerSecond)
        let json = "{\"id\":\"\(id)\",\"revisionDate\":\"1970-01-01T00:00:0\(second)Z\"}"
        do throws(NotACipher) {
            return try Cipher(Array(json.utf8))
        } catch {
            throw Setback(.malformed(json), operation: "cipher")
        }
    }
    func create(_ request: [UInt8], _: Urgency) async throws(Setback) -> Cipher {
        throw Self.notAsked("create")
    }

    func create(_ request: [UInt8], in _: [String], _: Urgency) async throws(Setback) -> Cipher {
        throw Self.notAsked("create")
    }
    func update(_ id: String, _ request: [UInt8], _: Urgency) async throws(Setback) -> Cipher {
        throw Self.notAsked("update")
    }
    func adjust(_ id: String, folderID: String?, isFavourite: Bool, _: Urgency)
        async throws(Setback) -> Cipher
    {
        throw Self.notAsked("adjust")
    }
    func trash(_ id: String, _: Urgency) async throws(Setback) { throw Self.notAsked("trash") }
    func restore(_ id: String, _: Urgency) async throws(Setback) -> Cipher {
        throw Self.notAsked("restore")
    }
    func delete(_ id: String, _: Urgency) async throws(Setback) { throw Self.notAsked("delete") }
    func archive(_ id: String, _: Urgency) async throws(Setback) -> Cipher {
        throw Self.notAsked("archive")
    }
    func unarchive(_ id: String, _: Urgency) async throws(Setback) -> Cipher {
        throw Self.notAsked("unarchive")
    }
    func hasFolder(_ id: String, _: Urgency) async throws(Setback) -> Bool {
        throw Self.notAsked("hasFolder")
    }
}

extension Setback.Reason {
    /// Nil if it shows nothing of the network.
    var evidence: Evidence? {
        switch self {
        case .unreachable: .unreachable
        case .throttled(_, .paced): nil
        case .throttled, .unavailable: .troubled
        default: .answered
        }
    }
}
