import System

/// Under which address each account is known. A person may have changed it elsewhere, and one may
/// have accounts on several servers.
///
/// Kept rather than put together whenever somebody signs in, because there may be thousands.
final class AddressBook: Sendable {
    private struct State {
        var addresses: [String: String] = [:]
        var ids: [String: Set<String>] = [:]

        mutating func remove(_ id: String) {
            guard let address = addresses.removeValue(forKey: id) else { return }
            ids[address]?.remove(id)
            if ids[address]?.isEmpty == true { ids[address] = nil }
        }
    }

    private let state = Lock(State())

    func note(_ email: String, of id: String) {
        let address = email.lowercased()
        state.withLock { state in
            guard state.addresses[id] != address else { return }
            state.remove(id)
            state.addresses[id] = address
            state.ids[address, default: []].insert(id)
        }
    }

    func forget(_ id: String) { state.withLock { $0.remove(id) } }

    func ids(at email: String) -> Set<String> {
        state.withLock { $0.ids[email.lowercased()] ?? [] }
    }
}
