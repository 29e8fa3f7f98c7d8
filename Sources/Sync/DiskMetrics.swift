internal import Glibc
public import Metrics

extension Registry {
    /// Registers how large the store is and how much room its disk has left; read when somebody
    /// scrapes. What cannot be read is left out.
    public func registerDisk(of directory: StateDirectory) {
        let path = directory.path
        register(
            .gauge("holdfast_store_bytes", "How large the store's files are."),
            by: Label<StoreFileKind>("file")
        ) { size(of: "\(path)/\($0.name)") }
        register(
            .gauge("holdfast_store_free_bytes", "What the disk of the state directory has left.")
        ) { room(at: path) }
    }
}

private enum StoreFileKind: String, CaseIterable, Hashable, Sendable {
    case database, log

    var name: String {
        switch self {
        case .database: Store.fileName
        case .log: Store.fileName + "-wal"
        }
    }
}

/// The log is not there while nothing has been written.
private func size(of path: String) -> Double? {
    var status = stat()
    if stat(path, &status) == 0 { return Double(status.st_size) }
    return errno == ENOENT ? 0 : nil
}

/// For those who are not root: their writes are the ones that fail.
private func room(at path: String) -> Double? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Double(disk.f_bavail) * Double(disk.f_frsize)
}
