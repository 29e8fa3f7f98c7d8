import Sync

/// Whose vault is meant where nobody is named.
extension Accounts {
    var defaultDesk: (any AccountDesk)? { chosen }

    private var chosen: Account? {
        let everybody = everybody
        if everybody.count == 1 { return everybody.first }
        return everybody.lazy.map { (account: $0, choice: $0.record.choice) }
            .filter { $0.choice > 0 }.max { $0.choice < $1.choice }?.account
    }

    func makeDefault(_ id: String) async throws(DeskRefusal) {
        // Two who choose at once would undo each other's choice.
        try await choices.hold("default") { () async throws(DeskRefusal) in try await choose(id) }
    }

    /// Only in turn.
    private func choose(_ id: String) async throws(DeskRefusal) {
        guard let account = account(id) else { throw .notFound }
        let latest = everybody.map(\.record.choice).max() ?? 0
        if account.record.choice == 0 || account.record.choice < latest {
            try await note(latest + 1, of: id)
        }
        // The choice is made by now. That no other account still has one is seen to afterwards.
        for other in everybody where other.id != id && other.record.choice > 0 {
            do throws(DeskRefusal) {
                try await note(0, of: other.id)
            } catch .notFound {
                // It has been taken away meanwhile.
            }
        }
    }

    /// Whoever has moved meanwhile is found where they are now.
    private func note(_ choice: Int, of id: String) async throws(DeskRefusal) {
        while let account = account(id) {
            do throws(DeskRefusal) {
                try await account.change { $0.choice = choice }
                return office.announce(.account(userID: id))
            } catch {
                guard case .notFound = error, self.account(id) !== account else { throw error }
            }
        }
        throw .notFound
    }

    /// An account that is alone is what routes without an account mean, and is shown as the default.
    ///
    /// - Parameter isFirstMeant: Whether the first is it beside others, too, as long as none was chosen.
    func preferTheOnlyOne(orTheFirst isFirstMeant: Bool = false) async throws(DeskRefusal) {
        try await choices.hold("default") { () async throws(DeskRefusal) in
            let everybody = everybody
            guard let first = everybody.first, isFirstMeant || everybody.count == 1,
                everybody.allSatisfy({ $0.record.choice == 0 })
            else { return }
            do throws(DeskRefusal) {
                try await choose(first.id)
            } catch .notFound {
                // It has been taken away as well.
            }
        }
    }

    /// Where upstream has made an account anew, the one that had its address is not let in any more. It stays with what
    /// waits of it, but is not meant where nobody is named.
    func putInPlaceOfFormer(_ account: Account) async {
        let former = accounts(withAddress: account.record.email).first { other in
            other.id != account.id && other.link.number == account.link.number
                && other.record.choice > 0
        }
        guard let former else { return }
        // It may only have got another address.
        _ = try? await former.sync(isForced: true)
        guard (try? await former.status) == .signedOut else { return }
        try? await makeDefault(account.id)
    }
}
