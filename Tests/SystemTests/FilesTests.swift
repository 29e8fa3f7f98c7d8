import Glibc
import System
import TestSupport
import Testing

struct FilesTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func `a file is replaced as a whole and for its owner only`() throws {
        let path = scratch.file("state")
        let large = [UInt8](repeating: 7, count: 300_000)
        try Files.replace(path, with: Array("first".utf8))
        try Files.replace(path, with: large)
        #expect(try Files.read(path) == large)
        #expect(try mode(of: path) == 0o600)
        #expect(try names(in: scratch.path) == ["state"])
    }

    @Test func `whether a file can be replaced is found out without a trace`() throws {
        try Files.tryDelivering(to: scratch.file("report"))
        #expect(try names(in: scratch.path).isEmpty)
        try Files.replace(scratch.file("report"), with: Array("old".utf8))
        try Files.tryDelivering(to: scratch.file("report"))
        #expect(try Files.read(scratch.file("report")) == Array("old".utf8))
        for path in ["", scratch.path, scratch.file("new/"), scratch.file("no/such/place")] {
            #expect(throws: SystemError.self) { try Files.tryDelivering(to: path) }
        }
        #expect(try names(in: scratch.path) == ["report"])
    }

    @Test func `what is delivered goes through a link, and into a device or a pipe`() throws {
        let (target, link) = (scratch.file("target"), scratch.file("link"))
        try Files.replace(target, with: Array("old".utf8))
        #expect(symlink(target, link) == 0)
        try Files.tryDelivering(to: link)
        try Files.deliver(Array("new".utf8), to: link)
        #expect(try Files.read(target) == Array("new".utf8))
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        Files.withdraw(link)
        #expect(try names(in: scratch.path) == ["link"])
        let pipe = scratch.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: SystemError.self, "Nobody reads.") { try Files.deliver([1], to: pipe) }
        let reader = try File(path: pipe, flags: O_RDONLY | O_NONBLOCK)
        try Files.deliver([7], to: pipe)
        var byte: UInt8 = 0
        #expect(read(reader.descriptor, &byte, 1) == 1 && byte == 7)
        Files.withdraw(pipe)
        #expect(try names(in: scratch.path) == ["link", "pipe"])
        try Files.tryDelivering(to: "/dev/null")
        try Files.deliver([1], to: "/dev/null")
    }

    @Test func `what is delivered makes the file that a link names, and never takes its place`()
        throws
    {
        let (link, loop) = (scratch.file("link"), scratch.file("loop"))
        #expect(symlink("target", link) == 0 && symlink(loop, loop) == 0)
        try Files.tryDelivering(to: link)
        try Files.deliver([1], to: link)
        #expect(try Files.read(scratch.file("target")) == [1])
        #expect(throws: SystemError.self) { try Files.tryDelivering(to: loop) }
        #expect(throws: SystemError.self) { try Files.deliver([1], to: loop) }
        Files.withdraw(loop)
        #expect(isLink(link) && isLink(loop))
    }

    @Test(arguments: ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"])
    func `what is open already is written on and neither replaced nor taken away`(
        _ table: String
    ) throws {
        let (path, link) = (scratch.file("output"), scratch.file("link"))
        let output = try File(path: path, flags: O_WRONLY | O_CREAT)
        try output.write([1])
        let inherited = dup(output.descriptor)
        defer { close(inherited) }
        #expect(symlink("\(table)/\(inherited)", link) == 0)
        Files.withdraw(link)
        try Files.tryDelivering(to: link)
        try Files.deliver([2], to: link)
        try output.write([3])
        #expect(try Files.read(path) == [1, 2, 3])
        #expect(isLink(link))
        // Once it has no name any more, what it was called names nothing.
        unlink(path)
        try Files.deliver([4], to: link)
        Files.withdraw(link)
        #expect(try names(in: scratch.path) == ["link"])
        #expect(isLink(link))
        try output.write([5])
    }

    @Test func `into what is open for reading only nothing can be delivered`() throws {
        let path = scratch.file("input")
        try Files.replace(path, with: [1])
        let input = try File(path: path, flags: O_RDONLY)
        let inherited = dup(input.descriptor)
        defer { close(inherited) }
        let name = "/dev/fd/\(inherited)"
        #expect(throws: SystemError.self) { try Files.tryDelivering(to: name) }
        #expect(throws: SystemError.self) { try Files.deliver([2], to: name) }
        #expect(try Files.read(path) == [1])
        #expect(lseek(input.descriptor, 0, SEEK_CUR) == 0)
    }

    @Test func `what is open already is read on, a socket too`() throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[1]) }
        #expect(write(pair[0], [7, 8] as [UInt8], 2) == 2)
        close(pair[0])
        #expect(try Files.readNamed("/dev/fd/\(pair[1])") == [7, 8])
        let path = scratch.file("input")
        try Files.replace(path, with: [1, 2, 3])
        let input = try File(path: path, flags: O_RDONLY)
        #expect(lseek(input.descriptor, 1, SEEK_SET) == 1)
        let inherited = dup(input.descriptor)
        defer { close(inherited) }
        #expect(try Files.readNamed("/proc/self/fd/\(inherited)") == [2, 3])
        #expect(try Files.readNamed(path) == [1, 2, 3])
        #expect(lseek(input.descriptor, 0, SEEK_CUR) == 3)
    }

    @Test func `what the program has opened itself is nobody's to name`() throws {
        let path = scratch.file("own.db")
        let own = try File(path: path, flags: O_RDWR | O_CREAT)
        try own.write([1])
        let name = "/dev/fd/\(own.descriptor)"
        #expect(throws: SystemError.self) { try Files.tryDelivering(to: name) }
        #expect(throws: SystemError.self) { try Files.deliver([2], to: name) }
        #expect(throws: SystemError.self) { try Files.readNamed(name) }
        #expect(throws: SystemError.self) { try Files.deliver([2], to: "/dev/fd/987654") }
        #expect(try Files.read(path) == [1])
    }

    /// Whoever shares it may have said so.
    @Test func `what comes later is waited for, also where nobody is to wait`() throws {
        var pipe: [Int32] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { close(pipe[0]) }
        #expect(fcntl(pipe[0], F_SETFL, O_NONBLOCK) == 0)
        let (name, end) = ("/dev/fd/\(pipe[0])", pipe[1])
        let writer = Thread.start(name: "writer") {
            _ = write(end, [7, 8] as [UInt8], 2)
            close(end)
        }
        #expect(try Files.readNamed(name) == [7, 8])
        writer.join()
    }

    @Test func `a pipe that nobody writes to is not waited for to see how it begins`() throws {
        let path = scratch.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: SystemError.self) { try Files.beginning(of: path, count: 16) }
    }

    @Test func `two ways to one place are known for that, also before something is there`() throws {
        let link = scratch.file("link")
        #expect(symlink(scratch.path, link) == 0)
        for _ in 1...2 {
            let place = Files.place(of: scratch.file("report"))
            #expect(Files.place(of: link + "/./report") == place)
            #expect(Files.place(of: link + "/other") != place)
            try Files.replace(scratch.file("report"), with: [])
        }
        #expect(Files.place(of: "no-such-file") == Files.place(of: "./no-such-file"))
    }

    @Test func `a path is told whole for whoever is in another directory`() {
        #expect(Files.absolute("/a/b") == "/a/b")
        let whole = Files.absolute("a/b")
        #expect(whole.hasPrefix("/") && whole.hasSuffix("/a/b"))
    }

    @Test func `a directory is one holder's until that lets go`() throws {
        let first = try DirectoryLock(scratch.path)
        let refusal = DirectoryLock.Refusal.held(by: getpid())
        #expect(throws: refusal) { try DirectoryLock(scratch.path) }
        first.letGo()
        first.letGo()
        _ = try DirectoryLock(scratch.path)
        _ = try DirectoryLock(scratch.path)
    }

    @Test func `a directory stays one holder's though somebody removes what says so`() throws {
        let first = try DirectoryLock(scratch.path)
        #expect(unlink(scratch.file("lock")) == 0)
        #expect(throws: DirectoryLock.Refusal.held(by: nil)) { try DirectoryLock(scratch.path) }
        first.letGo()
        _ = try DirectoryLock(scratch.path)
    }

    @Test func `a directory is taken though nothing can be written into the file that says so`()
        throws
    {
        // Whoever writes at a place in a pipe is refused, as on a disk that is full.
        #expect(mkfifo(scratch.file("lock"), 0o600) == 0)
        let first = try DirectoryLock(scratch.path)
        #expect(throws: DirectoryLock.Refusal.held(by: nil)) { try DirectoryLock(scratch.path) }
        first.letGo()
        _ = try DirectoryLock(scratch.path)
    }

    @Test func `a shorter number takes the place of a longer one`() throws {
        try Files.replace(scratch.file("lock"), with: Array("12345678901\nand more\n".utf8))
        _ = try DirectoryLock(scratch.path)
        #expect(try Files.read(scratch.file("lock")) == Array("\(getpid())\n".utf8))
    }

    @Test func `a directory is not taken from a holder that has locked the file alone`() throws {
        try Files.replace(scratch.file("lock"), with: Array("4711\n".utf8))
        let descriptor = open(scratch.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        #expect(throws: DirectoryLock.Refusal.held(by: 4_711)) { try DirectoryLock(scratch.path) }
    }

    @Test func `a replacement that fails leaves the old contents`() throws {
        let path = scratch.file("state")
        try Files.replace(path, with: Array("old".utf8))
        #expect(mkdir(path + ".draft", 0o700) == 0)
        let error = #expect(throws: SystemError.self) {
            try Files.replace(path, with: Array("new".utf8))
        }
        #expect(error?.operation.contains(path) == true)
        #expect(try Files.read(path) == Array("old".utf8))
    }

    @Test func `a replacement that fails leaves no draft behind`() throws {
        let path = scratch.file("state")
        #expect(mkdir(path, 0o700) == 0)
        #expect(throws: SystemError.self) { try Files.replace(path, with: Array("new".utf8)) }
        #expect(try names(in: scratch.path) == ["state"])
    }

    @Test func `the making of a message does not change the reason`() {
        let spoilt = { () -> String in
            errno = EDOM
            return "refuse"
        }
        #expect(throws: SystemError("refuse", code: EPERM)) {
            try system(spoilt()) { () -> Int in
                errno = EPERM
                return -1
            }
        }
    }

    @Test func `a draft that a crash has left behind gives nothing away`() throws {
        let path = scratch.file("secret")
        let draft = path + ".draft"
        close(open(draft, O_CREAT | O_WRONLY, 0o666))
        chmod(draft, 0o666)
        try Files.replace(path, with: Array("new".utf8))
        #expect(try mode(of: path) == 0o600)
    }

    @Test func `a draft that is a link to elsewhere is not followed`() throws {
        let (path, elsewhere) = (scratch.file("state"), scratch.file("elsewhere"))
        try Files.replace(elsewhere, with: Array("untouched".utf8))
        #expect(symlink(elsewhere, path + ".draft") == 0)
        try Files.replace(path, with: Array("new".utf8))
        #expect(try Files.read(elsewhere) == Array("untouched".utf8))
        #expect(try Files.read(path) == Array("new".utf8))
    }

    @Test func `private directories are for their owner only, those above included`() throws {
        let top = scratch.file("top")
        try Files.makePrivateDirectory(top + "/middle/bottom")
        for path in [top, top + "/middle", top + "/middle/bottom"] {
            #expect(try mode(of: path) == 0o700)
        }
        try Files.makePrivateDirectory(top + "/middle/bottom")
    }

    @Test func `a file in the way of a directory is an error`() throws {
        let path = scratch.file("file")
        try Files.replace(path, with: [])
        for directory in [path, path + "/below"] {
            let error = #expect(throws: SystemError.self) {
                try Files.makePrivateDirectory(directory)
            }
            #expect(error?.code == ENOTDIR)
        }
    }

    @Test func `a pipe in the place of a file is refused and not waited for`() throws {
        let (path, pipe) = (scratch.file("file"), scratch.file("pipe"))
        try Files.replace(path, with: [1])
        #expect(try Files.readOrdinary(path) == [1])
        #expect(mkfifo(pipe, 0o600) == 0)
        for place in [pipe, scratch.path] {
            #expect(throws: SystemError.self) { try Files.readOrdinary(place) }
        }
    }

    @Test func `only what is certainly not there is not there`() throws {
        let path = scratch.file("file")
        #expect(try !Files.exists(path))
        try Files.replace(path, with: [])
        #expect(try Files.exists(path))
        let below = #expect(throws: SystemError.self) { try Files.exists(path + "/below") }
        #expect(below?.code == ENOTDIR)
        let link = scratch.file("link")
        #expect(symlink(path, link) == 0)
        #expect(try Files.exists(link))
        #expect(unlink(path) == 0)
        let dangling = #expect(throws: SystemError.self) { try Files.exists(link) }
        #expect(dangling?.description == "follow the link \(link): No such file or directory")
    }

    @Test func `an error says what was tried on what`() {
        let error = #expect(throws: SystemError.self) { try Files.read("/does/not/exist") }
        #expect(error?.description == "open /does/not/exist: No such file or directory")
    }

    @Test func `a call that a signal interrupts is made again`() throws {
        var attempts = 0
        let result = try system("try") { () -> Int in
            attempts += 1
            errno = EINTR
            return attempts < 3 ? -1 : attempts
        }
        #expect(result == 3)
        #expect(throws: SystemError("refuse", code: EPERM)) {
            try system("refuse") { () -> Int in
                errno = EPERM
                return -1
            }
        }
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try system("stat \(path)") { lstat(path, &status) }
        return status.st_mode & 0o7777
    }

    private func names(in path: String) throws -> [String] {
        let directory = try #require(opendir(path))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
