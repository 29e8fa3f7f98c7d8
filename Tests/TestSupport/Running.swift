import Glibc
import System

/// A program that runs beside the test, and is gone when the test lets go of it.
public final class Running: Sendable {
    private let scratch: Scratch
    private let process: pid_t
    private let isReaped = Reaped()

    private final class Reaped: Sendable {
        let status = Lock<Int32?>(nil)
    }

    public var pid: Int32 { process }

    /// - Parameters:
    ///   - environment: Instead of the test's own, but for what the sanitizers are told.
    ///   - terminal: The path of a terminal that becomes the program's own.
    public init(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        terminal: String? = nil
    ) throws {
        scratch = try Scratch()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let input = terminal ?? "/dev/null"
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDWR, 0)
        for (number, name) in [(Int32(1), "output"), (2, "complaint")] {
            let flags = O_WRONLY | O_CREAT | O_APPEND
            posix_spawn_file_actions_addopen(&actions, number, scratch.file(name), flags, 0o600)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Whoever runs the tests may outlive a terminal, or be in the background of one, where a
        // shell has its keys ignored; what is tested is told when one hangs up or is interrupted.
        var signals = sigset_t()
        sigemptyset(&signals)
        for ignored in [SIGHUP, SIGINT, SIGQUIT] { sigaddset(&signals, ignored) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A session of its own, or the terminal could not become its own.
        posix_spawnattr_setflags(&attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGDEF))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        let told = environment.merging(Sanitizer.options) { given, _ in given }
        var variables = told.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var child = pid_t()
        let code = posix_spawn(&child, program, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw NoChild(program: program, code: code) }
        process = child
    }

    public var output: String { get throws { try text("output") } }
    public var complaint: String { get throws { try text("complaint") } }

    private func text(_ name: String) throws -> String {
        try readFile(scratch.file(name))
    }

    public func signal(_ number: Int32) { kill(process, number) }

    /// Waits, blocking, until the program has ended; negative if a signal ended it.
    @discardableResult
    public func wait() -> Int32 {
        isReaped.status.withLock { known in
            if let known { return known }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
            let wasKilled = status & 0x7f
            let result = wasKilled == 0 ? (status >> 8) & 0xff : -wasKilled
            known = result
            return result
        }
    }

    deinit {
        if isReaped.status.withLock({ $0 }) == nil {
            kill(process, SIGKILL)
            wait()
        }
    }
}
