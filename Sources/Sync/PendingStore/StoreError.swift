internal import Glibc
public import SQLite
public import System

/// Why the store did not do as it was told.
public enum StoreError: Error, Equatable, Sendable {
    case database(DatabaseError)
    case system(SystemError)
    /// Another host holds the state directory.
    case held(directory: String, by: Int32?)
    /// So many changes, or so many bytes of them, are pending that no other is taken on.
    case queueFull(limit: Int)
    /// An edit of an account that is not here, or not any more.
    case noAccount
    /// What could not be kept is not accepted; the error is the one that began it.
    case notAccepting(since: DatabaseError)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .database(let error) where error.trouble == .newerSchema:
            "\(error.description) \(Self.wayBack)"
        case .database(let error): error.description
        case .system(let error): "\(error.description). \(Self.hint(for: error.code))"
        case .held(let directory, let pid):
            "The state directory \(directory) is held by another host"
                + (pid.map { " (process \($0))" } ?? "") + ": stop it, or use another directory."
        case .queueFull(let limit):
            "The queue of unsent changes is full (\(limit)): nothing old is dropped; let the"
                + " upstream catch up, or discard changes that are no longer wanted."
        case .noAccount:
            "The account is not on this host, or not any more: nothing was recorded; sign in first."
        case .notAccepting(let error):
            "Edits are refused because they could not be kept. \(error)"
        }
    }
}

extension StoreError {
    /// Whether an edit is refused only because there is no room for it now. One that the full disk may have taken
    /// all the same is not refused.
    public var isForWantOfRoom: Bool {
        switch self {
        case .queueFull, .notAccepting: true
        case .database(let error): isOfFullDisk && !error.isOutcomeUnknown
        case .system: isOfFullDisk
        case .held, .noAccount: false
        }
    }

    /// Whether it was a full disk, or a file that may not grow, that did not take what was to be written, whatever
    /// became of that.
    var isOfFullDisk: Bool {
        switch self {
        case .database(let error): error.trouble.isWantOfRoom
        case .system(let error): [ENOSPC, EDQUOT, EFBIG].contains(error.code)
        case .queueFull, .notAccepting, .held, .noAccount: false
        }
    }

    /// What stays behind of the newer version would be taken for the older file's own, or refused once more.
    private static let wayBack =
        "To go back to an older one, first move \(Store.fileName), its -wal and -shm, and"
        + " \(Store.copyName) away together, as they are: they hold what upstream does not have yet."
        + " Then put the copy that was made before the change, \(Store.fileName).version-N, in the"
        + " place of \(Store.fileName)."

    private static func hint(for code: Int32) -> String {
        switch code {
        case ENOSPC, EDQUOT: Trouble.diskFull.hint
        case EFBIG: Trouble.sizeLimit.hint
        case EROFS: Trouble.readOnly.hint
        case EIO: Trouble.inputOutput.hint
        case EACCES, EPERM: Trouble.noPermission.hint
        case ENOENT: Trouble.missing.hint
        case ENOTDIR: Trouble.noDirectory.hint
        default: "Check the state directory and what it lies on."
        }
    }

    /// Whether edits have to stop until a probe succeeds.
    static func endsAcceptance(_ error: DatabaseError) -> Bool {
        switch error.trouble {
        case .diskFull, .sizeLimit, .readOnly, .inputOutput, .damaged, .notADatabase, .noPermission,
            .missing, .noDirectory, .exhausted:
            true
        case .locked, .newerSchema, .refused: false
        }
    }
}
