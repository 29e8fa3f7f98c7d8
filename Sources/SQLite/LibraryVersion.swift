internal import CSQLite

extension Database {
    /// Of the library that is in use, which need not be the one that this was built with.
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }
}
