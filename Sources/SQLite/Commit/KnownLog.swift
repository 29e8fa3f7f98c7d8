internal import CSQLite
internal import Glibc
internal import System

/// The log as the writer opened it. What is written behind one that somebody has removed or cut short is gone with
/// this process.
///
/// One for all connections of a database: whichever opens after the log was removed makes another, and would take that
/// for the log.
final class KnownLog: Sendable {
    enum Loss {
        /// Another file has its name, or none. It can still be read by those who had opened it.
        case removed
        /// Nothing is in it. Whoever has moved all of it into the database may empty it.
        case emptied
        case cutShort
    }

    private struct File {
        let path: String
        let device: dev_t
        let inode: ino_t
        let pageSize: Int
        /// It certainly is not shorter.
        var bytes = 0
    }

    /// None as long as the writer is not open, and where the system knows of no such file.
    private let file = Lock<File?>(nil)

    fileprivate func wasOpened(at path: String, pageSize: Int) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let opened = File(
            path: path,
            device: status.st_dev,
            inode: status.st_ino,
            pageSize: pageSize
        )
        file.withLock { $0 = opened }
    }

    /// Each page of the log has a header of its own, and so has a log that is not empty.
    func hasGrown(to pages: Int) {
        file.withLock { file in
            guard let pageSize = file?.pageSize, pages > 0 else { return }
            file?.bytes = 32 + pages * (24 + pageSize)
        }
    }

    /// To be called before what may make it shorter by right.
    ///
    /// - Returns: How long it was known to be.
    @discardableResult
    func mayShrink() -> Int {
        file.withLock { file in
            defer { file?.bytes = 0 }
            return file?.bytes ?? 0
        }
    }

    /// It was not made shorter.
    func stays(at bytes: Int) { file.withLock { $0?.bytes = bytes } }

    var loss: Loss? {
        guard let file = file.withLock(\.self) else { return nil }
        var status = stat()
        guard stat(file.path, &status) == 0, status.st_ino == file.inode,
            status.st_dev == file.device
        else { return .removed }
        guard status.st_size < file.bytes else { return nil }
        return status.st_size == 0 ? .emptied : .cutShort
    }
}

// MARK: - A log that the disk has changed

extension Session {
    /// Copies a log that ends too early beside the database, for it is emptied soon. What cannot be read or
    /// copied is left as it is, and nothing is opened.
    ///
    /// - Parameter isLeftAlone: It is not emptied, so no copy is made.
    /// - Returns: Where it lies; nil if it is sound.
    func setAsideDamagedLog(
        of place: Place,
        isLeftAlone: Bool
    ) throws(DatabaseError) -> String? {
        guard let path = logPath(of: place),
            let pageSize = try control("PRAGMA page_size", "open")
        else { return nil }
        do throws(SystemError) {
            guard try Files.exists(path) else { return nil }
            let log = try Files.read(path)
            guard let salt = LogCheck.saltOfDamaged(log, pageSize: pageSize) else { return nil }
            if isLeftAlone { return path }
            let copy = "\(place.path).damaged-log-\(String(salt, radix: 16))"
            try Files.replace(copy, with: log)
            return copy
        } catch {
            csq_leave_log_alone(handle)
            throw DatabaseError(
                .sqlite(.inputOutput, systemError: error.code),
                during: "look through the log",
                message: error.description
            )
        }
    }
}

// MARK: - A log that somebody has taken away

extension Session {
    /// To be called once it is certain that SQLite has opened it, which it does with the first read.
    func noteLog(of place: Place) throws(DatabaseError) {
        guard let path = logPath(of: place), let pageSize = try control("PRAGMA page_size", "open")
        else { return }
        knownLog.wasOpened(at: path, pageSize: pageSize)
    }

    func isLogEmpty(of place: Place) -> Bool {
        var status = stat()
        return logPath(of: place).map { stat($0, &status) != 0 || status.st_size == 0 } ?? true
    }

    /// Nil in the files of another VFS, of which the system knows nothing.
    private func logPath(of place: Place) -> String? {
        guard place.vfs == nil, let file = sqlite3_db_filename(handle, "main"),
            let path = sqlite3_filename_wal(file)
        else { return nil }
        return String(cString: path)
    }

    /// Moves what a log has that somebody has removed: it is gone with this process.
    func rescueLog(patience: Duration) {
        guard csq_has_moved(handle) == 0, knownLog.loss != nil else { return }
        _ = moveLog(.truncate, patience: patience)
    }

    /// Another program may have moved all of it into the database: that is no loss. Where it has only emptied it, this
    /// fails, and the edit is refused.
    func heedEmptiedLog(patience: Duration) {
        if knownLog.loss == .emptied { rescueLog(patience: patience) }
    }

    /// Of a log that was cut short only some pages could be moved, which would not fit those that are in the database.
    func refuseShortLog() throws(DatabaseError) {
        guard knownLog.loss == .cutShort else { return }
        csq_leave_log_alone(handle)
        throw lostLog(during: "checkpoint")
    }

    func lostLog(during operation: String) -> DatabaseError {
        DatabaseError(
            .sqlite(.moved, systemError: 0),
            during: operation,
            message: "the log beside the file has been removed or cut short"
        )
    }
}
