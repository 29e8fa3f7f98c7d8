internal import Glibc
internal import System

/// The directory of a host's state, held for as long as this value lives.
///
/// The lock is the kernel's, so it is gone with the process however that ends. The file says who
/// holds it, for the one who comes second.
public final class StateDirectory: Sendable {
    public let path: String
    private let descriptor: Int32

    /// Makes the directory if need be and takes it. Its name is flushed, or a power cut could take
    /// the whole of it.
    public init(_ path: String) throws(StoreError) {
        do throws(SystemError) {
            try Files.makePrivateDirectory(path)
            descriptor = try system("open \(path)/lock") {
                open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            }
        } catch {
            throw .system(error)
        }
        self.path = path
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw refusal() }
        do throws(SystemError) {
            try writeProcess()
            try flush(path)
            try flush("\(path)/..")
        } catch {
            throw .system(error)
        }
    }

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    private func writeProcess() throws(SystemError) {
        let line = Array("\(getpid())\n".utf8)
        try system("truncate \(path)/lock") { ftruncate(descriptor, 0) }
        try system("write \(path)/lock") { () -> Int in pwrite(descriptor, line, line.count, 0) }
    }

    private func flush(_ directory: String) throws(SystemError) {
        try File(path: directory, flags: O_RDONLY | O_DIRECTORY).flush()
    }

    private func refusal() -> StoreError {
        guard errno == EWOULDBLOCK else {
            return .system(SystemError("lock \(path)", code: errno))
        }
        var line = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &line, line.count, 0)
        let text = String(decoding: line.prefix(max(count, 0)), as: UTF8.self)
        return .held(directory: path, by: Int32(text.prefix { $0.isNumber }))
    }

    deinit { close(descriptor) }
}
