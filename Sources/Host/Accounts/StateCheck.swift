import JSON
public import Sync

/// Looks through all that a host keeps: the store, and what only the host understands of it.
public enum StateCheck {
    /// Looks while the host goes on.
    static func verify(
        _ store: Store,
        in directory: StateDirectory
    ) async throws(StoreError) -> Verification {
        try await store.verify(accounts: accountCheck(in: directory))
    }

    /// Looks at what a host that does not run has left, and changes nothing.
    public static func verify(
        _ directory: StateDirectory
    ) async throws(StoreError) -> Verification {
        try await Store.verify(directory, accounts: accountCheck(in: directory))
    }

    private static func accountCheck(in directory: StateDirectory) -> Verification.AccountCheck {
        let keyPath = directory.file(HostKey.fileName)
        return { accounts in Self.problems(of: accounts, keyAt: keyPath) }
    }

    private static func problems(of accounts: [StoredAccount], keyAt path: String) -> [String] {
        var problems: [String] = []
        var needsKey = false
        for account in accounts {
            do throws(JSON.Mismatch) {
                let record = try AccountRecord(account)
                needsKey = needsKey || record.isSealedInPart
            } catch {
                problems.append("The record of account \(account.id) cannot be read.")
            }
        }
        // Without anything to open, a key that is not there is one that the next start makes.
        if needsKey, let flaw = HostKey.flaw(at: path) { problems.append(flaw) }
        return problems
    }
}

extension AccountRecord {
    /// Whether something in it is of use only together with the host's key.
    fileprivate var isSealedInPart: Bool { sealedTokens != nil || sealedSecondFactor != nil }
}
