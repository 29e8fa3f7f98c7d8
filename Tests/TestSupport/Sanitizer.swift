/// What a sanitizer takes from a test that looks at real time or real memory.
public enum Sanitizer {
    #if ADDRESS_SANITIZER
        /// What was freed stays for a while, to be recognised if it is touched.
        public static let keepsWhatIsFreed = true
    #else
        public static let keepsWhatIsFreed = false
    #endif

    #if ADDRESS_SANITIZER || THREAD_SANITIZER
        /// How many times as long everything takes.
        public static let slowness = 5
    #else
        public static let slowness = 1
    #endif
}
