internal import Glibc
internal import System

/// What is done with whole files of a state directory.
enum StoreFile {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func size(of path: String) throws(SystemError) -> Int {
        var status = stat()
        try system("stat \(path)") { stat(path, &status) }
        return Int(status.st_size)
    }

    static func replace(_ path: String, by draft: String) throws(SystemError) {
        try system("rename \(draft)") { rename(draft, path) }
        let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        try File(
            path: directory.joined(separator: "/") + "/",
            flags: O_RDONLY | O_DIRECTORY
        ).flush()
    }

    /// Removes what SQLite keeps beside a file, which is of no use to any other.
    static func removeLog(of path: String) {
        for ending in ["-wal", "-shm"] { unlink(path + ending) }
    }

    static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
    }
}
