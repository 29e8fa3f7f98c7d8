public import HTTP
public import SQLite

/// Why the server cannot do its work.
public enum UpstreamError: Error, Sendable, CustomStringConvertible {
    case cannotListen(ServerError)
    case cannotKeep(DatabaseError)
    /// What lies in the directory was not written by this program, or by a newer one.
    case cannotRead(String)
    /// Another server keeps its accounts in the directory.
    case held(directory: String, by: Int32?)

    public var description: String {
        switch self {
        case .cannotListen(let error): error.description
        case .cannotKeep(let error): "Accounts cannot be kept: \(error)"
        case .cannotRead(let reason): "The kept accounts cannot be read: \(reason)"
        case .held(let directory, let process):
            "The directory \(directory) is held by another server"
                + (process.map { " (process \($0))" } ?? "")
                + ": stop it, or use another directory."
        }
    }
}
