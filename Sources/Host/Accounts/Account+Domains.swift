import JSON
import Sync
import System
import Vault

extension Account {
    /// Domains that have one login, as upstream has them.
    ///
    /// No sync brings them: they are long and hardly ever change. So they are asked for when somebody wants
    /// to know, once a day, and while upstream says nothing those that are known count.
    var equivalentDomains: [[String]] {
        get async throws(DeskRefusal) {
            await learnDomains()
            return try slices(.domains).flatMap(Self.groups)
        }
    }

    /// Nobody who only reads waits long for that, or is refused because of it.
    private func learnDomains() async {
        let (now, standing) = (office.surroundings.now, link.monitor.standing)
        guard domainsDue.withLock({ $0.begin(at: now, standing) }) else { return }
        do {
            let json = try await online(saysAway: false) { account throws(Setback) in
                try await account.asking {
                    $0.patience = .zero
                    $0.deadline = .seconds(3)
                }.domains()
            }
            let _: Void = try await office.ask {
                .base(.putSlice(BaseSlice(.domains, json: json), of: id, $0))
            }
        } catch {
            // Who hung up has met nothing.
            if Task.isCancelled { domainsDue.withLock { $0.giveUp() } }
            return
        }
        domainsDue.withLock { $0.learnt(at: now) }
    }

    /// The account's own, and those of everybody that it has not left out.
    private static func groups(_ domains: JSON.Value) -> [[String]] {
        let own = list(domains[anyCase: "equivalentDomains"]).map { list($0).compactMap(\.string) }
        let all = list(domains[anyCase: "globalEquivalentDomains"])
            .filter { $0[anyCase: "excluded"]?.bool != true }
            .map { list($0[anyCase: "domains"]).compactMap(\.string) }
        return own + all
    }

    private static func list(_ value: JSON.Value?) -> [JSON.Value] {
        value?.array.map { Array($0) } ?? []
    }
}

/// When somebody who wants to know the domains has upstream asked for them.
struct DomainsDue: Sendable {
    private var moment = Moment(ticks: .min)
    /// When upstream was asked in vain, if it was the last time.
    private var failed: Moment?

    /// Until somebody has answered it counts as in vain.
    ///
    /// - Returns: Whether they are to be asked for now. A network that is back since is worth another try.
    mutating func begin(at now: Moment, _ standing: NetworkMonitor.Standing) -> Bool {
        let isBack = failed.map { standing.state == .online && standing.since > $0 } ?? false
        guard moment <= now || isBack else { return false }
        (moment, failed) = (now.advanced(bySeconds: Self.secondsAfterFailure), now)
        return true
    }

    /// The next to come asks.
    mutating func giveUp() { (moment, failed) = (Moment(ticks: .min), nil) }

    mutating func learnt(at now: Moment) {
        (moment, failed) = (now.advanced(bySeconds: Self.secondsOfTrust), nil)
    }

    private static let secondsOfTrust: Int64 = 24 * 3_600
    private static let secondsAfterFailure: Int64 = 300
}
