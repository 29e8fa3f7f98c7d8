import Glibc
import System

/// The keyboard and the screen of a person, as a program sees them.
final class Terminal {
    let path: String
    private let descriptor: Int32

    init() throws {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var number: UInt32 = 0
        // The other end is locked until it is asked for, and known by number.
        try system("unlock") { () -> Int32 in ioctl(descriptor, 0x4004_5431, &number) }
        try system("number") { () -> Int32 in ioctl(descriptor, 0x8004_5430, &number) }
        self.descriptor = descriptor
        path = "/dev/pts/\(number)"
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// What appears on the screen, until the words are there; ten seconds at most.
    func screen(until words: String) -> String {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1_024)
        var wish = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&wish, 1, 10_000) == 1 {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count <= 0 { break }
            text += chunk[..<count]
            let whole = String(decoding: text, as: UTF8.self)
            if whole.contains(words) { return whole }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether what is typed is shown.
    var echoes: Bool {
        var state = termios()
        return tcgetattr(descriptor, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
    }

    deinit { close(descriptor) }
}
