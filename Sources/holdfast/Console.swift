import Glibc

/// Where the program speaks: answers on one stream, complaints on the other.
struct Console: Sendable {
    let answer: @Sendable (String) -> Void
    let complain: @Sendable (String) -> Void

    static let terminal = Console(
        answer: { write($0 + "\n", to: STDOUT_FILENO) },
        complain: { write($0 + "\n", to: STDERR_FILENO) }
    )

    /// A reader that went away is no reason to fail: nobody is there to hear of it.
    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
