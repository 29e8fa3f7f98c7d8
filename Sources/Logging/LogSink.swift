import Glibc
import System

/// Where finished lines go.
public protocol LogSink: Sendable {
    /// Takes one line with its end, whole, or returns `false`. Must not wait for long: the caller
    /// may be a loop that everything else waits for.
    func write(_ line: [UInt8]) -> Bool
}

/// An open file, pipe, socket or terminal; in a host, standard error.
///
/// A line is one `write`. When there is no room (a pipe that nobody reads, a terminal that is held)
/// the line waits a tenth of a second, once; after that lines are refused at once until there is
/// room again. So a reader that hangs costs the host a tenth of a second, and then only its lines.
///
/// Readiness is asked for instead of making the descriptor non-blocking, because that would make
/// it so for every process that shares it, the shell above all.
public final class DescriptorSink: LogSink {
    private struct State {
        /// The last line had no room.
        var isStuck = false
        /// The last line got through in part only, and still has to be ended.
        var isTorn = false
    }

    private static let patienceMilliseconds: Int32 = 100

    private let descriptor: Int32
    private let state = Lock(State())

    public init(_ descriptor: Int32 = 2) {
        self.descriptor = descriptor
    }

    public func write(_ line: [UInt8]) -> Bool {
        state.withLock { state in
            let bytes = state.isTorn ? [0x0A] + line : line
            let patience = state.isStuck ? 0 : Self.patienceMilliseconds
            let count = write(bytes, patience: patience)
            state.isStuck = count < bytes.count
            if count > 0 { state.isTorn = count < bytes.count }
            return count == bytes.count
        }
    }

    /// Returns how many bytes got through.
    private func write(_ bytes: [UInt8], patience: Int32) -> Int {
        var written = 0
        // A descriptor that claims room and then takes nothing is not asked for ever.
        for _ in 0..<16 where written < bytes.count {
            guard hasRoom(within: patience) else { break }
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if count < 0 && errno != EINTR && errno != EAGAIN { break }
            written += max(count, 0)
        }
        return written
    }

    private func hasRoom(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let count = try? system("poll") { () -> Int32 in poll(&request, 1, milliseconds) }
        return (count ?? 0) > 0
    }
}
