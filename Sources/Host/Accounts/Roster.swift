import Messaging
import System

/// Which accounts have their services on duty, and when those of the others are needed next.
///
/// Most accounts of a large host are closed, and nobody asks for them: they cost what is remembered of
/// them, and a place here until their next sync is due.
final class Roster: Sendable {
    private struct State {
        var onDuty: [String: Account] = [:]
        var due = Ranking<String, Duration>()
    }

    private let state = Lock(State())
    /// What is to run. All that is in the store comes before anything runs, so there is room for more
    /// than there can be.
    let arrivals = Mailbox<any Service>(name: "accounts", capacity: 1 << 24)

    /// How often somebody looks who is to be woken, and who may rest.
    static let period = Duration.seconds(5)
    /// So many are woken at once: after a long night all of them are due.
    private static let wokenAtOnce = 256

    /// - Parameter refuse: What becomes of it while the host is stopping.
    func start(_ service: any Service, orElse refuse: () -> Void) {
        do throws(Undelivered) {
            try arrivals.address.tryTell(service)
        } catch {
            refuse()
        }
    }

    /// The services of an account run from now on, unless the host is stopping.
    func takeUp(_ account: Account, _ staff: Staff) {
        state.withLock { state in
            state.onDuty[account.id] = account
            state.due.remove(account.id)
        }
        staff.shift.begin()
        start(staff) { staff.dismiss() }
    }

    /// The services of an account rest until then, unless somebody needs them earlier.
    func rest(_ id: String, until moment: Duration) {
        state.withLock { state in
            state.onDuty[id] = nil
            state.due.set(id, at: moment)
        }
    }

    func remove(_ id: String) {
        state.withLock { state in
            state.onDuty[id] = nil
            state.due.remove(id)
        }
    }

    var onDuty: [Account] { state.withLock { Array($0.onDuty.values) } }
    var restingCount: Int { state.withLock { $0.due.count } }

    func takeDue(at now: Duration) -> [String] {
        state.withLock { state in
            var taken: [String] = []
            while taken.count < Self.wokenAtOnce, let id = state.due.takeFirst(upTo: now) {
                taken.append(id)
            }
            return taken
        }
    }
}
