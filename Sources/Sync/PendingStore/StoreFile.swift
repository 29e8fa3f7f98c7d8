internal import Glibc
internal import System

/// What is done with whole files of a state directory.
enum StoreFile {
    static func exists(_ path: String) throws(StoreError) -> Bool {
        do throws(SystemError) { return try Files.exists(path) } catch { throw .system(error) }
    }

    static func size(of path: String) throws(SystemError) -> Int {
        var status = stat()
        try system("stat \(path)") { stat(path, &status) }
        return Int(status.st_size)
    }

    /// Puts on stable storage what was written into it, by whomever.
    static func flush(_ path: String) throws(SystemError) {
        try File(path: path, flags: O_RDONLY).flush()
    }

    static func replace(_ path: String, by draft: String) throws(SystemError) {
        try system("rename \(draft)") { rename(draft, path) }
        try Files.flushDirectory(of: path)
    }

    /// Removes what SQLite keeps beside a file, which is of no use to any other.
    static func removeLog(of path: String) {
        for ending in ["-wal", "-shm"] { unlink(path + ending) }
    }

    /// Every file whose path begins like this.
    static func all(beginningWith prefix: String) throws(SystemError) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        let outcome = glob(escaped(prefix) + "*", GLOB_NOSORT, nil, &found)
        guard outcome != GLOB_NOMATCH else { return [] }
        try system("list \(prefix)*") { outcome == 0 ? 0 : -1 }
        return (0..<Int(found.gl_pathc)).compactMap { index in
            found.gl_pathv[index].map { String(cString: $0) }
        }
    }

    /// So that what a directory is called is taken as it is written.
    private static func escaped(_ path: String) -> String {
        path.reduce(into: "") { $0 += "*?[\\".contains($1) ? "\\\($1)" : "\($1)" }
    }

    static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
    }
}
