import HTTP
import Host
import Sync
import Vault

extension Interior {
    /// Rooms without anybody in them.
    static var vacant: Interior {
        Interior(
            household: Vacancy(),
            inside: Gate.Inside(
                routes: [],
                scope: { _ in .read },
                answer: { _, _ in .text("Not Found", status: .notFound) }
            ),
            tally: { [] }
        )
    }
}

private struct Vacancy: Household {
    var desks: [any AccountDesk] { [] }
    func desk(_ id: String) -> (any AccountDesk)? { nil }
    var defaultDesk: (any AccountDesk)? { nil }

    func signIn(_ request: SignInRequest) async throws(DeskRefusal) -> any AccountDesk {
        throw .noAccount
    }
    func makeDefault(_ id: String) async throws(DeskRefusal) { throw .noAccount }
    func setServer(_ address: String, of id: String) async throws(DeskRefusal) { throw .noAccount }
    func remove(_ id: String, discardingPending: Bool) async throws(DeskRefusal) {
        throw .noAccount
    }

    var network: NetworkStanding {
        NetworkStanding(isDrill: false, state: .online, since: Moment(ticks: 0))
    }
    func setDrill(_ isOn: Bool) async {}
    func events(after number: Int?) -> AsyncStream<NumberedEvent> { AsyncStream { $0.finish() } }
}
