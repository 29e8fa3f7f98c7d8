import Glibc
import System

/// What is being fetched, beside the file whose place it is to take.
///
/// It is for its owner only, like all that we write. It is locked: of two who fetch to the same
/// place the second is refused, for it would write into what the first is about to believe. A draft
/// that nobody has locked is what a crash has left, and is taken away.
final class Draft {
    private let target: String
    private let path: String
    private let file: File
    private var isInPlace = false

    init(of target: String) throws(SystemError) {
        self.target = target
        path = target + ".draft"
        file = try Self.claim(path)
    }

    deinit {
        if !isInPlace { unlink(path) }
    }

    func write(_ bytes: [UInt8]) throws(SystemError) { try file.write(bytes) }

    /// From here on, also after a crash, the target is what has been written.
    func takePlace() throws(SystemError) {
        try file.flush()
        try system("rename \(path)") { rename(path, target) }
        isInPlace = true
        try Files.flushDirectory(of: target)
    }

    /// A loop, because somebody else may take the file away before it is locked; whoever goes on
    /// has the lock of the one that is there.
    private static func claim(_ path: String) throws(SystemError) -> File {
        while true {
            do {
                let file = try File(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
                try lock(file, path)
                if isStill(file, at: path) { return file }
            } catch {
                guard error.code == EEXIST else { throw error }
                try takeAway(path)
            }
        }
    }

    private static func takeAway(_ path: String) throws(SystemError) {
        do {
            // A link is not followed, and a pipe not waited for: neither can be anybody's draft.
            let file = try File(path: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            try lock(file, path)
            guard isStill(file, at: path) else { return }
        } catch {
            if error.code == EWOULDBLOCK { throw error }
        }
        guard unlink(path) != 0 else { return }
        let code = errno
        if code != ENOENT { throw SystemError("unlink \(path)", code: code) }
    }

    private static func lock(_ file: borrowing File, _ path: String) throws(SystemError) {
        let descriptor = file.descriptor
        try system("lock \(path)") { flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    private static func isStill(_ file: borrowing File, at path: String) -> Bool {
        var (ours, theirs) = (stat(), stat())
        return fstat(file.descriptor, &ours) == 0 && lstat(path, &theirs) == 0
            && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino
    }
}
