internal import Glibc

/// What an error means for the person who runs the host.
public enum Trouble: String, CaseIterable, Sendable {
    case diskFull
    /// A file has the size that it may have, whatever room there is.
    case sizeLimit
    case readOnly
    case inputOutput
    case damaged
    case notADatabase
    case locked
    case noPermission
    case missing
    /// There is a file where a directory should be.
    case noDirectory
    case exhausted
    case newerSchema
    /// The request was refused; the database is well.
    case refused

    public var hint: String {
        switch self {
        case .diskFull:
            "The disk is full: free some space; nothing that was confirmed is lost."
        case .sizeLimit:
            "The file may not become any larger: raise the limit on the size of files (ulimit -f, or"
                + " LimitFSIZE in a unit); nothing that was confirmed is lost."
        case .readOnly:
            "The file or its file system is read-only: remount it writable, and look into the"
                + " kernel's log for the reason."
        case .inputOutput:
            "The disk reports errors: look into the kernel's log and check the disk before"
                + " trusting it again."
        case .damaged:
            "The file is damaged: stop the host, keep a copy of the file and of its -wal, and"
                + " restore a backup or salvage what can be read."
        case .notADatabase:
            "This is not a database of ours: check the path of the state directory."
        case .locked:
            "Another process holds the database: stop it, or whatever inspects or copies the file."
        case .noPermission:
            "The host may not use this file: check its owner and mode, and those of its directory."
        case .missing:
            "The file or its directory is gone: check that the state directory is there and"
                + " mounted."
        case .noDirectory:
            "There is a file where a directory should be: check the path of the state directory."
        case .exhausted:
            "The host ran out of memory, open files or threads: raise its limits."
        case .newerSchema:
            "A newer version of the program wrote this file: run that version."
        case .refused:
            "The database is unharmed and goes on."
        }
    }
}

extension Trouble {
    /// Whether what is there can be read, and written again once there is room.
    public var isWantOfRoom: Bool { self == .diskFull || self == .sizeLimit }
}

extension DatabaseError {
    public var trouble: Trouble {
        switch cause {
        case .sqlite(let code, let systemError), .unsettled(let code, let systemError):
            Trouble(code, systemError: systemError)
        case .newerSchema: .newerSchema
        case .foreignKeysViolated, .damaged: .damaged
        case .cancelled, .closed: .refused
        }
    }
}

extension Trouble {
    /// The system's reason comes first: SQLite calls many things "cannot open" or "I/O error".
    init(_ code: ResultCode, systemError: Int32) {
        switch systemError {
        case ENOSPC, EDQUOT: self = .diskFull
        case EFBIG: self = .sizeLimit
        case EROFS: self = .readOnly
        case EACCES, EPERM: self = .noPermission
        case ENOENT, ESTALE: self = .missing
        case ENOTDIR: self = .noDirectory
        case EMFILE, ENFILE, ENOMEM: self = .exhausted
        case EIO: self = .inputOutput
        default: self = code == .moved ? .missing : Trouble(code.primary)
        }
    }

    private init(_ primary: ResultCode) {
        switch primary {
        case .full: self = .diskFull
        case .readOnly: self = .readOnly
        case .inputOutput: self = .inputOutput
        case .corrupt: self = .damaged
        case .notADatabase: self = .notADatabase
        case .busy, .locked, .lockProtocol: self = .locked
        case .noPermission: self = .noPermission
        case .cannotOpen: self = .missing
        case .noMemory: self = .exhausted
        default: self = .refused
        }
    }
}
