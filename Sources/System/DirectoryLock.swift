import Glibc

/// A directory that one process has to itself until it lets go of it.
///
/// The locks are the kernel's, so they are gone with the process however that ends. One is on the directory itself,
/// which nobody can remove alone; one is on a file in it, which says who holds it, for the one who comes second.
public final class DirectoryLock: Sendable {
    public enum Refusal: Error, Equatable, Sendable {
        case held(by: Int32?)
        case system(SystemError)
    }

    public static let fileName = "lock"
    /// None once it has been let go.
    private let descriptors = Lock<[Int32]>([])

    /// Takes a directory that is there.
    public init(_ directory: String) throws(Refusal) {
        let path = "\(directory)/\(Self.fileName)"
        do throws(Refusal) {
            try take(directory, O_RDONLY | O_DIRECTORY)
        } catch .held {
            throw .held(by: Self.holder(at: path))
        } catch {
            // Not every file system locks directories; the file is locked on all of them.
        }
        do throws(Refusal) {
            Self.sign(try take(path, O_RDWR | O_CREAT | O_NOFOLLOW))
        } catch .held {
            throw .held(by: Self.holder(at: path))
        }
    }

    @discardableResult
    private func take(_ path: String, _ flags: Int32) throws(Refusal) -> Int32 {
        let opened: Int32
        do throws(SystemError) {
            opened = try system("open \(path)") { open(path, flags | O_CLOEXEC, 0o600) }
        } catch {
            throw .system(error)
        }
        descriptors.withLock { $0.append(opened) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            throw code == EWOULDBLOCK
                ? .held(by: nil) : .system(SystemError("lock \(path)", code: code))
        }
        return opened
    }

    /// A disk may have no room even for that. It is held all the same, and names nobody rather than another.
    private static func sign(_ descriptor: Int32) {
        let line = Array("\(getpid())\n".utf8)
        // Written over what is there, for room that is given back may be another's at once.
        let written = pwrite(descriptor, line, line.count, 0)
        _ = ftruncate(descriptor, written == line.count ? off_t(line.count) : 0)
    }

    private static func holder(at path: String) -> Int32? {
        guard let line = try? Files.beginning(of: path, count: 32) else { return nil }
        return Int32(String(decoding: line, as: UTF8.self).prefix { $0.isNumber })
    }

    /// May be called again.
    public func letGo() {
        let held = descriptors.withLock { descriptors in
            defer { descriptors = [] }
            return descriptors
        }
        for descriptor in held { close(descriptor) }
    }

    deinit { letGo() }
}
