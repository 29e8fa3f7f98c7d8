import Glibc
import System

/// Whoever supervises this process, spoken to by systemd's protocol; nobody, if there is none.
public struct Supervisor: Sendable {
    public enum News: Hashable, Sendable {
        case ready(String)
        /// What can be changed without a new start is being read again.
        case reloading
        case stopping
        case alive

        var text: String {
            switch self {
            case .ready(let status): "READY=1\nSTATUS=\(status)"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
            case .stopping: "STOPPING=1\nSTATUS=Finishing what is under way."
            case .alive: "WATCHDOG=1"
            }
        }

        /// By the clock that the manager compares it with.
        private static var monotonicMicroseconds: Int {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
        }
    }

    private let socket: String?
    /// How often it wants to hear that the host is alive, at the least; nil if it does not ask.
    public let watchdog: Duration?

    public init(environment: [String: String], process: Int32? = nil) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == process ?? getpid() } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int($0) } ?? 0
        watchdog = isMeant && limit > 0 && socket != nil ? .microseconds(limit) : nil
    }

    /// Tells it, once. A manager that does not listen is no reason to fail.
    public func tell(_ news: News) {
        guard let socket, let address = NotifyAddress(socket) else { return }
        let descriptor = Glibc.socket(
            AF_UNIX,
            Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        address.send(Array(news.text.utf8), from: descriptor)
    }

    /// Tells it that the host is alive, twice as often as it asks, for as long as `isAlive` says so.
    func keepWatch(_ timekeeper: any Timekeeper, _ isAlive: () async -> Bool) async {
        guard let watchdog else { return }
        var wait = watchdog / 2
        while (try? await timekeeper.sleep(for: wait)) != nil {
            let isAlive = await isAlive()
            if isAlive { tell(.alive) }
            // A machine that has slept finds everybody silent, and a moment later nobody.
            wait = isAlive ? watchdog / 2 : watchdog / 8
        }
    }
}

/// A Unix socket's address: a path, or behind an `@` a name that is in no directory.
private struct NotifyAddress {
    private var address = sockaddr_un()
    private var length: socklen_t

    init?(_ text: String) {
        var path = Array(text.utf8)
        guard let first = path.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first),
            path.count < MemoryLayout.size(ofValue: address.sun_path)
        else { return nil }
        if first == UInt8(ascii: "@") { path[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        length = socklen_t(start + path.count)
    }

    func send(_ bytes: [UInt8], from descriptor: Int32) {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(
                    descriptor,
                    bytes,
                    bytes.count,
                    Int32(MSG_NOSIGNAL),
                    address,
                    length
                )
            }
        }
    }
}
