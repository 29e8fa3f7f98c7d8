import CMicrohttpd
import Glibc
import System

/// A socket at which connections arrive. Whoever takes it closes it.
struct ListeningSocket {
    let descriptor: Int32
    let listener: OpenListener
    /// The file of a Unix socket that is ours to remove.
    private let file: SocketFile?

    private static let backlog: Int32 = 1_024

    init(_ listener: Listener) throws(ServerError) {
        switch listener.place {
        case .tcp(let address):
            descriptor = try Self.openTCP(address)
            file = nil
        case .unix(let path):
            descriptor = try Self.openUnix(path)
            file = SocketFile(path)
        case .open(let given), .connected(let given):
            descriptor = given
            file = nil
            _ = fcntl(given, F_SETFD, FD_CLOEXEC)
            _ = fcntl(given, F_SETFL, fcntl(given, F_GETFL) | O_NONBLOCK)
        }
        self.listener = try Self.describe(descriptor, listener)
    }

    /// Closes the socket and removes its file, unless the file is somebody else's by now.
    func close() {
        file?.remove()
        // A connection is closed by whoever serves it.
        if !listener.door.isHandedDown { Glibc.close(descriptor) }
    }

    private static func openTCP(_ address: SocketAddress) throws(ServerError) -> Int32 {
        let descriptor = cm_listen_tcp(address.host, Int32(clamping: address.port), backlog)
        guard descriptor >= 0 else { throw ServerError(listeningOn: address.description) }
        return descriptor
    }

    private static func openUnix(_ path: String) throws(ServerError) -> Int32 {
        let descriptor = cm_listen_unix(path, backlog)
        if descriptor >= 0 { return descriptor }
        let code = errno
        if code == EADDRINUSE, let obstacle = Self.obstacle(at: path) {
            throw .addressRefused(path, reason: obstacle)
        }
        guard code == EADDRINUSE, cm_is_answered(path) == 0 else {
            errno = code
            throw ServerError(listeningOn: path)
        }
        // Left behind by a process that did not stop in order.
        unlink(path)
        let second = cm_listen_unix(path, backlog)
        guard second >= 0 else { throw ServerError(listeningOn: path) }
        return second
    }

    /// What stands in the way of a socket; nil if that is one itself, or gone.
    private static func obstacle(at path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK else { return nil }
        let kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: "a directory"
            case S_IFLNK: "a link"
            default: "a file"
            }
        return "\(kind) is there. Move it away, or choose another address"
    }

    private static func describe(
        _ descriptor: Int32,
        _ listener: Listener
    ) throws(ServerError) -> OpenListener {
        do {
            guard let address = try SocketAddress(of: descriptor, isPeer: false) else {
                return .unix(listener, at: try SocketAddress.path(of: descriptor))
            }
            return OpenListener(door: listener.door(.tcp), address: .tcp(address))
        } catch {
            throw .addressRefused(listener.name, reason: error.description)
        }
    }
}

extension OpenListener {
    /// - Parameter bound: Where the socket says that it is, as one does that somebody else has opened.
    fileprivate static func unix(_ listener: Listener, at bound: String?) -> OpenListener {
        let path = if case .unix(let path) = listener.place { path } else { bound ?? "" }
        return OpenListener(
            door: listener.door(.unix),
            address: .unix(path: path)
        )
    }
}

extension Listener {
    fileprivate func door(_ kind: Door.Kind) -> Door {
        let isHandedDown = if case .connected = place { true } else { false }
        return Door(name: name, kind: kind, isHandedDown: isHandedDown)
    }
}

extension SocketAddress {
    /// The address of one end of a socket; `nil` if it is a Unix socket.
    init?(of descriptor: Int32, isPeer: Bool) throws(SystemError) {
        let (text, port) = try Self.read(descriptor, isPeer: isPeer)
        guard let port else { return nil }
        self.init(host: text, port: port)
    }

    /// Where a Unix socket is; nil if it has no name.
    static func path(of descriptor: Int32) throws(SystemError) -> String? {
        let (text, port) = try read(descriptor, isPeer: false)
        return port == nil && !text.isEmpty ? text : nil
    }

    /// - Returns: Without a port, the path of a Unix socket.
    private static func read(
        _ descriptor: Int32,
        isPeer: Bool
    ) throws(SystemError) -> (text: String, port: Int?) {
        var port: Int32 = 0
        var bytes = [CChar](repeating: 0, count: 108)
        try system("address of a socket") { cm_address(descriptor, isPeer ? 1 : 0, &bytes, &port) }
        let text = bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return (String(decoding: text, as: UTF8.self), port < 0 ? nil : Int(port))
    }
}

/// A socket's file, known by more than its name.
private struct SocketFile {
    private let path: String
    private let device: dev_t
    private let node: ino_t

    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        device = status.st_dev
        node = status.st_ino
    }

    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == node else {
            return
        }
        unlink(path)
    }
}

extension ServerError {
    fileprivate init(listeningOn address: String) {
        self =
            errno == EADDRINUSE
            ? .addressTaken(address)
            : .addressRefused(address, reason: String(cString: strerror(errno)))
    }
}
