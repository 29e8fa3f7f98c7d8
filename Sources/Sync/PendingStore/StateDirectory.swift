internal import Glibc
internal import System

/// The directory of a host's state, held for as long as this value lives.
public final class StateDirectory: Sendable {
    public let path: String
    private let lock: DirectoryLock

    /// Makes the directory if need be and takes it. Its name is flushed, or a power cut could take
    /// the whole of it.
    public init(_ path: String) throws(StoreError) {
        self.path = path
        do throws(SystemError) { try Files.makePrivateDirectory(path) } catch {
            throw .system(error)
        }
        do throws(DirectoryLock.Refusal) {
            lock = try DirectoryLock(path)
        } catch {
            switch error {
            case .held(let process): throw .held(directory: path, by: process)
            case .system(let error): throw .system(error)
            }
        }
        do throws(SystemError) {
            for place in [path, "\(path)/.."] {
                try File(path: place, flags: O_RDONLY | O_DIRECTORY).flush()
            }
        } catch {
            throw .system(error)
        }
    }

    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Takes from all others that they may write in the directory, and all that they may do with what the host keeps
    /// there: a restore without modes leaves both open. To be called before any of it is read.
    ///
    /// - Parameter names: What is kept there besides the store. What else lies there is not the host's.
    /// - Returns: The names of what was open; `.` is the directory.
    public func makePrivate(with names: [String]) -> [String] {
        let own = names + [Store.fileName, Store.copyName, DirectoryLock.fileName]
        let kept = Files.names(in: path).filter { name in
            own.contains { name == $0 || name.hasPrefix($0 + "-") || name.hasPrefix($0 + ".") }
        }
        return (["."] + kept.sorted()).filter { Files.makePrivate(file($0)) }
    }
}
