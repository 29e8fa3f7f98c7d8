import Glibc

/// What a sanitizer takes from a test that looks at real time.
public enum Sanitizer {
    #if ADDRESS_SANITIZER || THREAD_SANITIZER
        /// How many times as long everything takes.
        public static let slowness = 5
    #else
        public static let slowness = 1
    #endif

    /// What the sanitizers were told, for the programs that a test starts: they are built with them as well.
    static var options: [String: String] {
        ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"].reduce(into: [:]) { options, name in
            if let value = getenv(name) { options[name] = String(cString: value) }
        }
    }
}
