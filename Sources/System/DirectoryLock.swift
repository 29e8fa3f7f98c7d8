import Glibc

/// A directory that one process has to itself until it lets go of it.
///
/// The lock is the kernel's, so it is gone with the process however that ends. The file says who
/// holds it, for the one who comes second.
public final class DirectoryLock: Sendable {
    public enum Refusal: Error, Equatable, Sendable {
        case held(by: Int32?)
        case system(SystemError)
    }

    public static let fileName = "lock"
    /// Nothing once it has been let go.
    private let descriptor: Lock<Int32?>

    /// Takes a directory that is there.
    public init(_ directory: String) throws(Refusal) {
        let path = "\(directory)/\(Self.fileName)"
        let opened: Int32
        do throws(SystemError) {
            opened = try system("open \(path)") {
                open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            }
        } catch {
            throw .system(error)
        }
        descriptor = Lock(opened)
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            throw Self.refusal(code: errno, path, opened)
        }
        do throws(SystemError) {
            let line = Array("\(getpid())\n".utf8)
            try system("truncate \(path)") { ftruncate(opened, 0) }
            try system("write \(path)") { () -> Int in pwrite(opened, line, line.count, 0) }
        } catch {
            throw .system(error)
        }
    }

    private static func refusal(code: Int32, _ path: String, _ descriptor: Int32) -> Refusal {
        guard code == EWOULDBLOCK else { return .system(SystemError("lock \(path)", code: code)) }
        var line = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &line, line.count, 0)
        let text = String(decoding: line.prefix(max(count, 0)), as: UTF8.self)
        return .held(by: Int32(text.prefix { $0.isNumber }))
    }

    /// May be called again.
    public func letGo() {
        if let descriptor = descriptor.withLock({ $0.take() }) { close(descriptor) }
    }

    deinit { letGo() }
}
