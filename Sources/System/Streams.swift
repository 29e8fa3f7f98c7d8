import Glibc

/// What a path leads to, once its links are followed.
private enum Destination {
    /// What has that name, whether it is there yet or not.
    case file(String)
    /// What this process has open, named by its number. Whoever opened it may go on with it: nothing of it is
    /// replaced or taken away.
    case open(Int32)
    /// A device or a pipe, or what another process has open.
    case special

    /// As many as the system follows itself.
    private static let linksAtMost = 40

    init(_ path: String) throws(SystemError) {
        var place = path
        for _ in 0..<Self.linksAtMost {
            // Such a link must not be read: it tells what the file was called, not what it is.
            if let opened = Self.opened(place) {
                self = opened
                return
            }
            guard let next = Self.target(ofLink: place) else {
                self = Self.isSpecial(place) ? .special : .file(place)
                return
            }
            place = next
        }
        throw SystemError("open \(path)", code: ELOOP)
    }

    /// For whoever wants to write there. What one of the standard streams goes to is named by its number then.
    init(writingTo path: String) throws(SystemError) {
        self = try Destination(path)
        if case .file(let file) = self, let stream = Self.standardStream(to: file) {
            self = .open(stream)
        }
    }

    /// What is in the directory in which the system shows what a process has open.
    private static func opened(_ path: String) -> Self? {
        guard let last = path.split(separator: "/").last, let number = Int32(last),
            let table = real(Files.directory(of: path)),
            table.hasPrefix("/proc/"), table.hasSuffix("/fd")
        else { return nil }
        guard let own = real("/proc/self"), table.hasPrefix(own + "/") else { return .special }
        return .open(number)
    }

    fileprivate static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let target = String(
            decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        return target.hasPrefix("/") ? target : Files.directory(of: path) + target
    }

    private static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    private static func standardStream(to path: String) -> Int32? {
        var named = stat()
        guard stat(path, &named) == 0 else { return nil }
        return (STDIN_FILENO...STDERR_FILENO).first { number in
            var opened = stat()
            return fstat(number, &opened) == 0 && opened.st_dev == named.st_dev
                && opened.st_ino == named.st_ino && fcntl(number, F_GETFL) & O_ACCMODE != O_RDONLY
        }
    }
}

extension Files {
    /// Puts the bytes where somebody wants them: in a file, which is replaced, and which a link may name; or
    /// into a device, a pipe or what is open already, which is written to.
    public static func deliver(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32 = 0o600
    ) throws(SystemError) {
        switch try Destination(writingTo: path) {
        case .file(let file): try replace(file, with: bytes, mode: mode)
        case .open(let descriptor):
            try requireInherited(descriptor, named: path)
            try write(bytes, to: descriptor)
        // Nobody may ever read from a pipe.
        case .special: try File(path: path, flags: O_WRONLY | O_NONBLOCK | O_APPEND).write(bytes)
        }
    }

    /// Takes away what was delivered earlier.
    public static func withdraw(_ path: String) {
        if case .file(let file)? = try? Destination(writingTo: path) { unlink(file) }
    }

    /// Finds out, as far as that can be known before, whether something could be delivered there. Nothing of
    /// the try is left.
    public static func tryDelivering(to path: String) throws(SystemError) {
        switch try Destination(writingTo: path) {
        case .special: return
        case .open(let descriptor):
            try requireInherited(descriptor, named: path)
            let flags = try system("open \(path)") { fcntl(descriptor, F_GETFL) }
            if flags & O_ACCMODE == O_RDONLY { throw SystemError("open \(path)", code: EBADF) }
        case .file(let file):
            if file.isEmpty || file.hasSuffix("/") || isDirectory(file) {
                throw SystemError("open \(file)", code: file.isEmpty ? ENOENT : EISDIR)
            }
            let draft = file + ".draft"
            defer { unlink(draft) }
            try writeDraft(draft, [], 0o600)
        }
    }

    /// Where something that is delivered comes to lie, whichever way the path goes there.
    public static func place(of path: String) -> String {
        guard case .file(let file)? = try? Destination(path) else { return path }
        let directory = directory(of: file)
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        return (Destination.real(directory) ?? directory) + "/" + name
    }

    /// Reads what somebody has named; what is open already is read on from where it stands, as it cannot always
    /// be opened again.
    public static func readNamed(_ path: String) throws(SystemError) -> [UInt8] {
        switch try Destination(path) {
        case .file, .special: return try read(path)
        case .open(STDIN_FILENO): return try readStandardInput()
        case .open(let descriptor):
            try requireInherited(descriptor, named: path)
            return try read(descriptor, as: path)
        }
    }

    /// What this process has opened itself, its database for one, is nobody's to name. It is closed on the way into
    /// another program; what was handed down is not.
    private static func requireInherited(
        _ descriptor: Int32,
        named path: String
    ) throws(SystemError) {
        let flags = try system("open \(path)") { fcntl(descriptor, F_GETFD) }
        if flags & FD_CLOEXEC != 0 { throw SystemError("open \(path)", code: EBADF) }
    }

    public static func readStandardInput() throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            return try read(STDIN_FILENO, as: "standard input")
        } catch {
            guard error.code == EBADF else { throw error }
            throw SystemError("standard input is closed", code: error.code)
        }
    }

    /// Keeps what is opened later from taking the place of a standard stream that is closed. Whoever uses that
    /// stream hears that it is all the same: what stands there can only be used the other way.
    public static func holdStandardStreams() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
