public import HTTP
public import SQLite

/// Why the server cannot do its work.
public enum UpstreamError: Error, Sendable, CustomStringConvertible {
    case cannotListen(ServerError)
    case cannotKeep(DatabaseError)
    /// What lies in the directory was not written by this program, or by a newer one.
    case cannotRead(String)

    public var description: String {
        switch self {
        case .cannotListen(let error): error.description
        case .cannotKeep(let error): "Accounts cannot be kept: \(error)"
        case .cannotRead(let reason): "The kept accounts cannot be read: \(reason)"
        }
    }
}
