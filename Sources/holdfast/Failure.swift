/// Why the program ends before it did what it was told, and with which status.
struct Failure: Error, Equatable {
    let status: ExitStatus
    /// One line: what is wrong and what to do about it.
    let message: String
    /// What the host wants to know besides, if that is all that is wrong.
    var question: Question?

    enum Question: Equatable {
        /// A code of one of these second steps, by their numbers.
        case secondFactor([Int])
        /// The code that the server has mailed because the device is new.
        case newDeviceCode
    }
}

/// The exit statuses of the program; the numbers above 1 are those of `sysexits.h`.
enum ExitStatus: Int32, Sendable {
    case success = 0
    case failure = 1
    case usage = 64
    case hostNotRunning = 69
    case notAllowed = 77
}
