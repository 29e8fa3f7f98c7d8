import Vault

/// Where the server keeps its stamps. The one that a write is answered with comes from memory; whatever is read
/// later is as the store has kept it, and so is what the next write is measured against.
public enum StampStore: String, Sendable, CaseIterable {
    /// Keeps what it is given.
    case exact
    /// Keeps multiples of 1/300 of a second, the nearest one.
    case sqlServer
    /// Keeps whole seconds, and cuts off the rest.
    case mariaDB
    /// Keeps whole seconds, the nearest one.
    case mySQL

    func kept(_ moment: Moment) -> Moment {
        let second = Moment.ticksPerSecond
        return switch self {
        case .exact: moment
        case .sqlServer:
            // A tick is three of these; the store's steps are not whole ticks.
            Moment(ticks: (nearest(moment.ticks * 3, step: second / 100) + 1) / 3)
        case .mariaDB: Moment(ticks: moment.ticks - moment.ticks % second)
        case .mySQL: Moment(ticks: nearest(moment.ticks, step: second))
        }
    }

    private func nearest(_ ticks: Int64, step: Int64) -> Int64 {
        (ticks + step / 2) / step * step
    }
}

extension World {
    /// What was written leaves the server's memory.
    mutating func keep(_ changes: Set<Change>, in store: StampStore) {
        guard store != .exact else { return }
        for change in changes {
            switch change {
            case .account(let id): accounts[id]?.keep(in: store)
            case .cipher(let owner, let id):
                accounts[owner]?.ciphers[id]?.keep(in: store)
                organizations[owner]?.ciphers[id]?.keep(in: store)
            case .organization, .file: break
            }
        }
    }
}

extension Account {
    fileprivate mutating func keep(in store: StampStore) {
        revised = store.kept(revised)
        for id in placements.keys { placements[id]?.keep(in: store) }
        for id in folders.keys { folders[id]?.keep(in: store) }
        for id in sends.keys { sends[id]?.keep(in: store) }
    }
}

extension StoredCipher {
    fileprivate mutating func keep(in store: StampStore) {
        (created, revised) = (store.kept(created), store.kept(revised))
        deleted = deleted.map(store.kept)
    }
}

extension Placement {
    fileprivate mutating func keep(in store: StampStore) { archived = archived.map(store.kept) }
}

extension StoredFolder {
    fileprivate mutating func keep(in store: StampStore) { revised = store.kept(revised) }
}

extension StoredSend {
    fileprivate mutating func keep(in store: StampStore) { revised = store.kept(revised) }
}
