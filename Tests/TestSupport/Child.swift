import Glibc

/// A program that was run to its end, and what it said.
public struct Child: Sendable {
    public let status: Int32
    public let output: String
    public let complaint: String

    /// Runs a program, found in PATH unless it has a slash, with the input on its standard input.
    public static func run(
        _ program: String,
        _ arguments: [String] = [],
        input: String = ""
    ) throws -> Child {
        let scratch = try Scratch()
        try writeFile(scratch.file("input"), input)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let streams = [("input", O_RDONLY), ("output", O_WRONLY), ("complaint", O_WRONLY)]
        for (number, (name, flags)) in streams.enumerated() {
            posix_spawn_file_actions_addopen(
                &actions,
                Int32(number),
                scratch.file(name),
                flags | O_CREAT,
                0o600
            )
        }
        let status = try spawn(program, arguments, &actions)
        return Child(
            status: status,
            output: try readFile(scratch.file("output")),
            complaint: try readFile(scratch.file("complaint"))
        )
    }

    /// The directory of the test bundle, where the build also puts the program.
    public static var productsDirectory: String {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count)
        let words = (try? readFile("/proc/self/cmdline"))?.split(separator: "\0") ?? []
        let bundle = words.first { $0.hasSuffix(".xctest") }.map(String.init)
        let executable = String(decoding: path[..<length].map(UInt8.init), as: UTF8.self)
        let parts = (bundle ?? executable).split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        return parts.dropLast().joined(separator: "/")
    }
}

/// A child could not be started.
public struct NoChild: Error {
    public let program: String
    public let code: Int32
}

private func spawn(
    _ program: String,
    _ arguments: [String],
    _ actions: inout posix_spawn_file_actions_t
) throws -> Int32 {
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    let code = posix_spawnp(&child, program, &actions, nil, &words, environ)
    guard code == 0 else { throw NoChild(program: program, code: code) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    let wasKilled = status & 0x7f
    return wasKilled == 0 ? (status >> 8) & 0xff : -wasKilled
}

private func writeFile(_ path: String, _ text: String) throws {
    guard let file = fopen(path, "w") else { throw NoChild(program: path, code: errno) }
    defer { fclose(file) }
    fwrite(text, 1, text.utf8.count, file)
}

func readFile(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw NoChild(program: path, code: errno) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += chunk[..<count]
    }
}
