import JSON
public import Sync
import System

/// Looks through all that a host keeps: the store, what only the host understands of it, and the files beside
/// it that the next start needs.
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
        let copyPath = directory.file(Store.copyName)
        let tokens = TokenFile(state: directory.path)
        return { accounts in
            Self.problems(of: accounts, keyAt: keyPath)
                + [Self.flaw(of: tokens), Self.flawOfCopy(at: copyPath)].compactMap(\.self)
        }
    }

    /// What keeps the next start from reading the tokens. Without the file, it makes a first one.
    private static func flaw(of tokens: TokenFile) -> String? {
        do throws(TokenError) {
            guard try tokens.exists else { return nil }
            _ = try tokens.read()
            return nil
        } catch {
            return error.description
        }
    }

    /// Whether there is a copy that could not be used on the day on which it is all that is left.
    private static func flawOfCopy(at path: String) -> String? {
        do throws(SystemError) {
            guard try Files.exists(path) else { return nil }
            let beginning = try Files.beginning(of: path, count: versionPlace.upperBound)
            if beginning.isEmpty { return nil }
            guard beginning.count == versionPlace.upperBound, beginning.starts(with: databaseMark)
            else {
                return
                    "\(path) is no database, and would not help if it were needed. The next copy"
                    + " takes its place."
            }
            let version = beginning[versionPlace].reduce(0) { $0 << 8 | Int($1) }
            guard version > Store.schemaVersion else { return nil }
            return
                "\(path) is of a newer version of the program (its schema has version \(version),"
                + " this one knows \(Store.schemaVersion)), and keeps a host from starting."
        } catch {
            return "The copy of what is pending cannot be read: \(error)."
        }
    }

    /// What every database of SQLite begins with.
    private static let databaseMark = Array("SQLite format 3\0".utf8)
    /// Where such a database has the version of its schema, in big-endian order.
    private static let versionPlace = 60..<64

    private static func problems(of accounts: [StoredAccount], keyAt path: String) -> [String] {
        var problems: [String] = []
        var sealed: [AccountRecord] = []
        for account in accounts {
            do throws(JSON.Mismatch) {
                let record = try AccountRecord(account)
                if record.isSealedInPart { sealed.append(record) }
            } catch {
                problems.append("The record of account \(account.id) cannot be read.")
            }
        }
        // Without anything to open, a key that is not there is one that the next start makes.
        guard !sealed.isEmpty else { return problems }
        return problems + [flaw(ofKeyAt: path, sealing: sealed)].compactMap(\.self)
    }

    /// Why what was sealed with the key that should lie there cannot be opened.
    private static func flaw(ofKeyAt path: String, sealing records: [AccountRecord]) -> String? {
        do {
            let key = try HostKey(found: path)
            let count = records.lazy.compactMap(\.sealedTokens).count { key.openTokens($0) == nil }
            guard count > 0 else { return nil }
            return
                "\(path) has not sealed what is kept of the session of \(count) of the accounts, so that cannot be"
                + " opened. Put the right one back, or have them sign in again."
        } catch {
            return "\(error)"
        }
    }
}

extension AccountRecord {
    /// Whether something in it is of use only together with the host's key.
    fileprivate var isSealedInPart: Bool { sealedTokens != nil || sealedSecondFactor != nil }
}
