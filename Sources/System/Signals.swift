import CSystem
import Glibc

/// The signals that a host answers to.
public enum Signal: Int32, CaseIterable, Sendable {
    case hangUp = 1
    case interrupt = 2
    case terminate = 15
}

/// Signals as a stream.
///
/// ``block()`` comes first in the program, before any other thread is started: a signal that is
/// blocked everywhere waits until the one thread that asks for it is there. (An asynchronous `main`
/// would undo the blocking; ours is synchronous.)
public enum Signals {
    public static func block() {
        cs_block_signals(numbers, Int32(numbers.count))
        // A peer that hangs up is an error of the write, not the end of the host.
        signal(SIGPIPE, SIG_IGN)
        // And so is a file that may not grow.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Whether whoever has started the program wants it to outlive that signal, as `nohup` does: while it is
    /// blocked, it comes all the same.
    public static func isIgnored(_ signal: Signal) -> Bool {
        cs_signal_is_ignored(signal.rawValue) != 0
    }

    /// The signals from now on, each as often as it came: a request to end must not be pushed out by
    /// requests to reload that nobody has read yet.
    public static func stream() -> AsyncStream<Signal> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Signal.self,
            bufferingPolicy: .unbounded
        )
        Thread.start(name: "signals") {
            while true {
                let number = cs_wait_signal(numbers, Int32(numbers.count))
                guard let signal = Signal(rawValue: number) else { continue }
                if case .terminated = continuation.yield(signal) { return }
            }
        }
        return stream
    }

    /// From now on a signal that ends the program first puts the terminal back into the state it is in now.
    public static func keepTerminal(_ descriptor: Int32) {
        cs_keep_terminal(descriptor, numbers, Int32(numbers.count))
    }

    /// The terminal is as it was, or need not be so any more.
    public static func letTerminalGo() {
        cs_let_terminal_go(numbers, Int32(numbers.count))
    }

    private static let numbers = Signal.allCases.map(\.rawValue)
}
