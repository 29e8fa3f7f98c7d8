import Glibc

/// A call to the system that failed.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    public let operation: String
    public let code: Int32

    public init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Calls the system again as long as a signal interrupts it, and throws what it refuses.
@discardableResult
public func system(
    _ operation: @autoclosure () -> String,
    _ call: () -> Int
) throws(SystemError) -> Int {
    while true {
        let result = call()
        // Read before anything else, for the making of a message may change it.
        let code = errno
        if result >= 0 { return result }
        guard code == EINTR else { throw SystemError(operation(), code: code) }
    }
}

@discardableResult
public func system(
    _ operation: @autoclosure () -> String,
    _ call: () -> Int32
) throws(SystemError) -> Int32 {
    Int32(try system(operation()) { () -> Int in Int(call()) })
}

/// An open file that closes itself.
public struct File: ~Copyable, Sendable {
    public let descriptor: Int32

    public init(path: String, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) {
        descriptor = try system("open \(path)") { Glibc.open(path, flags | O_CLOEXEC, mode) }
    }

    public func write(_ bytes: [UInt8]) throws(SystemError) {
        try Files.write(bytes, to: descriptor)
    }

    fileprivate func beginning(_ count: Int, of name: String) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = try system("read \(name)") { () -> Int in
            bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        }
        return Array(bytes.prefix(length))
    }

    fileprivate var isOrdinary: Bool {
        get throws(SystemError) {
            var status = stat()
            try system("stat") { fstat(descriptor, &status) }
            return status.st_mode & S_IFMT == S_IFREG
        }
    }

    fileprivate func read(as name: String) throws(SystemError) -> [UInt8] {
        try Files.read(descriptor, as: name)
    }

    public func flush() throws(SystemError) {
        try system("fsync") { fsync(descriptor) }
    }

    deinit { close(descriptor) }
}

public enum Files {
    /// Replaces the file's contents so that after a crash there is either the old or the new, whole.
    public static func replace(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32 = 0o600
    ) throws(SystemError) {
        let draft = path + ".draft"
        do {
            try writeDraft(draft, bytes, mode)
            try system("rename \(draft)") { rename(draft, path) }
        } catch {
            // On a full disk its room is needed, and nobody else would take it away.
            unlink(draft)
            throw error
        }
        try flushDirectory(of: path)
    }

    static func writeDraft(
        _ path: String,
        _ bytes: [UInt8],
        _ mode: mode_t
    ) throws(SystemError) {
        // A draft that a crash has left may have another mode or be a link: it is made anew.
        unlink(path)
        let flags = O_WRONLY | O_CREAT | O_EXCL
        let file = try File(path: path, flags: flags, mode: mode)
        try file.write(bytes)
        try file.flush()
    }

    /// Puts on stable storage that the file is there under its name, or is not any more.
    public static func flushDirectory(of path: String) throws(SystemError) {
        try File(path: directory(of: path), flags: O_RDONLY | O_DIRECTORY).flush()
    }

    /// Whether something has that name. What cannot be looked for may be there all the same, and what a link leads to
    /// may come back: neither is a no.
    public static func exists(_ path: String) throws(SystemError) -> Bool {
        var status = stat()
        do throws(SystemError) {
            try system("look for \(path)") { lstat(path, &status) }
        } catch {
            guard error.code == ENOENT else { throw error }
            return false
        }
        try system("follow the link \(path)") { stat(path, &status) }
        return true
    }

    /// With a slash at its end.
    static func directory(of path: String) -> String {
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parent.isEmpty ? "./" : parent.joined(separator: "/") + "/"
    }

    public static func read(_ path: String) throws(SystemError) -> [UInt8] {
        try File(path: path, flags: O_RDONLY).read(as: path)
    }

    /// The same of what is to be an ordinary file. Whatever else has its name is not waited for.
    public static func readOrdinary(_ path: String) throws(SystemError) -> [UInt8] {
        let file = try File(path: path, flags: O_RDONLY | O_NONBLOCK)
        guard try file.isOrdinary else {
            throw SystemError("read \(path), which is no ordinary file", code: EINVAL)
        }
        return try file.read(as: path)
    }

    /// So many bytes of the file, or all if it has fewer. What is no file is not waited for.
    public static func beginning(
        of path: String,
        count: Int
    ) throws(SystemError) -> [UInt8] {
        try File(path: path, flags: O_RDONLY | O_NONBLOCK).beginning(count, of: path)
    }

    /// All that comes from what is open already, from where that stands.
    static func read(_ descriptor: Int32, as name: String) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try patiently("read \(name)", descriptor, POLLIN) { () -> Int in
                chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// All of it, to what is open already.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try patiently("write", descriptor, POLLOUT) { () -> Int in
                rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Whoever else has it open may have said that nobody waits at it.
    private static func patiently(
        _ operation: @autoclosure () -> String,
        _ descriptor: Int32,
        _ event: Int32,
        _ call: () -> Int
    ) throws(SystemError) -> Int {
        while true {
            do throws(SystemError) {
                return try system(operation(), call)
            } catch {
                guard error.code == EAGAIN else { throw error }
            }
            var wait = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            try system(operation()) { poll(&wait, 1, -1) }
        }
    }

    /// Makes the directory and those above it; what is made is for its owner only, and on stable
    /// storage, so that what is kept in it later does not get lost together with it.
    public static func makePrivateDirectory(_ path: String) throws(SystemError) {
        var partial = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            partial += name + "/"
            let made = partial
            if mkdir(made, 0o700) == 0 {
                try flushDirectory(of: String(made.dropLast()))
                continue
            }
            let code = errno
            if code == EEXIST && isDirectory(made) { continue }
            throw SystemError("mkdir \(made)", code: code == EEXIST ? ENOTDIR : code)
        }
    }

    /// Takes from all others what they may do with a file of this process's own user; of a directory only that they
    /// may write in it.
    ///
    /// - Returns: Whether there was anything to take. What belongs to somebody else, what is meant for many
    ///   (with the sticky bit) and links stay as they are.
    public static func makePrivate(_ path: String) -> Bool {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let file = try? File(path: path, flags: flags) else { return false }
        var status = stat()
        guard fstat(file.descriptor, &status) == 0, status.st_uid == geteuid(),
            status.st_mode & 0o1000 == 0
        else { return false }
        let isDirectory = status.st_mode & S_IFMT == S_IFDIR
        let open = status.st_mode & (isDirectory ? 0o022 : 0o077)
        guard open != 0, isDirectory || status.st_mode & S_IFMT == S_IFREG else { return false }
        return fchmod(file.descriptor, status.st_mode & 0o7777 & ~open) == 0
    }

    /// What is in the directory; nothing if it cannot be read.
    public static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The same place for whoever is in another directory.
    public static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        let directory = String(cString: here)
        return directory == "/" ? "/\(path)" : "\(directory)/\(path)"
    }

    public static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
