import Glibc
import System

/// Asks a person at the terminal for something that nobody is to see.
///
/// The terminal hands over every key as it is, the one that interrupts included: so whatever is
/// pressed, it is put right again before the program goes on or ends. So it is before a signal ends it.
struct Prompt {
    private let path: String

    init(terminal path: String = "/dev/tty") { self.path = path }

    /// - Parameter alternative: What to give where there is nobody to ask.
    func ask(
        _ words: String,
        alternative: String = PasswordSource.alternatives
    ) throws(Failure) -> String {
        let terminal = try open(alternative)
        let line = try withoutEcho(terminal) { () throws(Failure) in
            try say("\(words): ", to: terminal)
            return try readLine(terminal)
        }
        guard let line else { throw Failure(status: .failure, message: "Nothing was entered.") }
        return line
    }

    private func open(_ alternative: String) throws(Failure) -> File {
        do {
            return try File(path: path, flags: O_RDWR | O_NOCTTY)
        } catch {
            throw Failure(
                status: .usage,
                message: "There is no terminal to ask at: give \(alternative)."
            )
        }
    }

    private func withoutEcho<Result>(
        _ terminal: borrowing File,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var usual = termios()
        guard tcgetattr(terminal.descriptor, &usual) == 0 else {
            throw Failure(status: .failure, message: "\(path) is no terminal.")
        }
        Signals.keepTerminal(terminal.descriptor)
        defer { Signals.letTerminalGo() }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(terminal.descriptor, TCSAFLUSH, &silent)
        defer { tcsetattr(terminal.descriptor, TCSAFLUSH, &usual) }
        let result = try body()
        try say("\n", to: terminal)
        return result
    }

    private func say(_ text: String, to terminal: borrowing File) throws(Failure) {
        do {
            try terminal.write(Array(text.utf8))
        } catch {
            throw Failure(status: .failure, message: error.description)
        }
    }

    /// - Returns: Nil if it was given up.
    private func readLine(_ terminal: borrowing File) throws(Failure) -> String? {
        var entry = Entry()
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(terminal.descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            switch entry.press(byte) {
            case .more: continue
            case .givenUp: return nil
            case .entered(let text): return text
            }
        }
    }
}

/// A line as it is typed.
struct Entry {
    enum State: Hashable {
        case more, givenUp
        case entered(String)
    }

    private var bytes: [UInt8] = []

    mutating func press(_ key: UInt8) -> State {
        switch key {
        case 0x0A, 0x0D:
            return bytes.isEmpty ? .givenUp : .entered(String(decoding: bytes, as: UTF8.self))
        case 0x03, 0x1C, 0x1A: return .givenUp
        case 0x04: return bytes.isEmpty ? .givenUp : .more
        case 0x08, 0x7F: removeCharacter()
        case 0x15: bytes = []
        default: bytes.append(key)
        }
        return .more
    }

    /// The last one, of however many bytes.
    private mutating func removeCharacter() {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
