import Glibc
import System

/// Where the program speaks: answers on one stream, complaints on the other.
struct Console: Sendable {
    let answer: @Sendable (String) -> Void
    let complain: @Sendable (String) -> Void
    /// Whether a person reads the answers, and not a program.
    var isForPeople = false
    /// Whether answers may be coloured.
    var isColoured = false
    /// Shows what takes its time, in place of what it showed before; nil if nobody would see it.
    var showProgress: (@Sendable (String) -> Void)?
    /// All of the standard input.
    var input: @Sendable () throws(SystemError) -> [UInt8] = Console.readInput

    private static func readInput() throws(SystemError) -> [UInt8] {
        try Files.read("/dev/stdin")
    }

    static let terminal = Console(
        answer: { write($0 + "\n", to: STDOUT_FILENO) },
        complain: { write($0 + "\n", to: STDERR_FILENO) },
        isForPeople: isatty(STDOUT_FILENO) == 1,
        isColoured: isatty(STDOUT_FILENO) == 1 && Environment.current["NO_COLOR"] == nil,
        showProgress: isatty(STDERR_FILENO) == 1 ? replaceLine : nil
    )

    private static let replaceLine: @Sendable (String) -> Void = {
        write("\r\u{1B}[K" + $0, to: STDERR_FILENO)
    }

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
