/// What a sanitizer takes from a test that looks at real time.
public enum Sanitizer {
    #if ADDRESS_SANITIZER || THREAD_SANITIZER
        /// How many times as long everything takes.
        public static let slowness = 5
    #else
        public static let slowness = 1
    #endif
}
