import FoundationEssentials
import SQLite

/// What this program was made of.
enum Build {
    static var sqlite: String { Database.libraryVersion }

    static var swift: String {
        #if swift(>=6.4)
            "6.4"
        #elseif swift(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}

/// The variables that the program was started with.
enum Environment {
    static var current: [String: String] { ProcessInfo.processInfo.environment }
}
