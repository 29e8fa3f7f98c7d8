import Glibc
import System
import TestSupport

/// Runs a command of the system and returns its exit status.
@discardableResult
func shell(_ command: String) throws -> Int32 {
    let child = try ChildProcess(["/bin/sh", "-c", command])
    return child.wait()
}

func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let scratch = try Scratch()
    try Files.replace(scratch.file("plain"), with: bytes)
    try shell("gzip -9 '\(scratch.file("plain"))'")
    return try Files.read(scratch.file("plain.gz"))
}

/// A process that a test has started.
final class ChildProcess: Sendable {
    private let pid: pid_t
    /// What it writes to its standard output.
    let output: Int32

    /// - Parameter listener: A socket that it gets as its descriptor 3.
    init(
        _ arguments: [String],
        environment: [String] = [],
        passing listener: Int32? = nil
    ) throws {
        var ends: [Int32] = [0, 0]
        try system("pipe") { pipe(&ends) }
        for end in ends { try system("fcntl") { fcntl(end, F_SETFD, FD_CLOEXEC) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // Nothing else of ours is to live on in there, should we end before it does.
        if let listener { posix_spawn_file_actions_adddup2(&actions, listener, 3) }
        let first: Int32 = listener == nil ? 3 : 4
        for descriptor in first..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        var words = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, arguments[0], &actions, nil, &words, &variables)
        close(ends[1])
        guard code == 0 else { throw SystemError("spawn \(arguments[0])", code: code) }
        self.pid = pid
        output = ends[0]
    }

    /// The next line of its output; `nil` at its end.
    func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return status >> 8 & 0xFF
    }

    /// - Parameter signal: It inherits which signals are blocked here, and only SIGKILL cannot be.
    func end(by signal: Int32 = SIGKILL) {
        kill(pid, signal)
        wait()
    }

    deinit { close(output) }
}
