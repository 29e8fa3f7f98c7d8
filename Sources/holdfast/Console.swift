import Glibc
import System

/// Where the program speaks: answers on one stream, complaints on the other.
struct Console: Sendable {
    let answer: @Sendable (String) -> Void
    let complain: @Sendable (String) -> Void
    /// Whether answers may be coloured.
    var isColoured = false
    /// Shows what takes its time, in place of what it showed before; nil if nobody would see it.
    var showProgress: (@Sendable (String) -> Void)?
    /// All of the standard input that nobody has read yet.
    var input: @Sendable () throws(SystemError) -> [UInt8] = Console.readInput
    /// Why an answer did not get where it was to go, if one did not.
    var loss: @Sendable () -> SystemError? = { nil }

    private static func readInput() throws(SystemError) -> [UInt8] {
        try Files.readStandardInput()
    }

    static func terminal() -> Console {
        let loss = Lock<SystemError?>(nil)
        return Console(
            answer: { text in
                guard let code = write(text + "\n", to: STDOUT_FILENO) else { return }
                loss.withLock { $0 = $0 ?? SystemError("standard output", code: code) }
            },
            complain: { _ = write($0 + "\n", to: STDERR_FILENO) },
            isColoured: isatty(STDOUT_FILENO) == 1 && Environment.current["NO_COLOR"] == nil,
            showProgress: isatty(STDERR_FILENO) == 1 ? replaceLine : nil,
            loss: { loss.withLock(\.self) }
        )
    }

    private static let replaceLine: @Sendable (String) -> Void = {
        _ = write("\r\u{1B}[K" + $0, to: STDERR_FILENO)
    }

    /// - Returns: What went wrong. A reader that went away is no reason to fail: nobody is there to hear of
    ///   it.
    static func write(_ text: String, to descriptor: Int32) -> Int32? {
        do throws(SystemError) {
            try Files.write(Array(text.utf8), to: descriptor)
            return nil
        } catch {
            return error.code == EPIPE ? nil : error.code
        }
    }
}
