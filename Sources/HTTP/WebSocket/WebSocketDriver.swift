import CWebsockets
import Synchronization
import System

/// The sockets' thread, as seen from all others: an inbox, and a way to wake it.
final class WebSocketDriver: Sendable {
    enum Command: Sendable {
        case open(WebSocketLink)
        case resolved(UInt64, [String])
        case cancel(UInt64)
        case resume(UInt64)
        case send(UInt64, Letter)
        case takeBack(UInt64, UInt64)
        case goodbye(UInt64, UInt16)
        case count(CheckedContinuation<Int, Never>)
        case stop

    }

    fileprivate struct Inbox {
        var commands: [Command] = []
        var isAsleep = false
        var isClosed = false
        var hasEnded = false
        /// There while the loop serves it.
        var context: Context?
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    private let inbox = Lock(Inbox())
    private let lastID = Atomic<UInt64>(0)

    init(configuration: WebSocketClient.Configuration, timekeeper: any Timekeeper) {
        Thread.start(name: "websockets") { [self] in
            WebSocketLoop(self, configuration: configuration, timekeeper: timekeeper).run()
        }
    }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    // MARK: From any thread

    func post(_ command: Command) {
        inbox.withLock { inbox in
            if !inbox.isClosed { inbox.post(command) }
        }
    }

    /// - Returns: Why the command is not taken over, if it is not. A task that is cancelled already
    ///   is refused under the lock, so a cancellation either is seen here or comes after.
    func submit(_ command: Command) -> WebSocketError.Reason? {
        inbox.withLock { inbox in
            if Task.isCancelled { return .cancelled }
            if inbox.isClosed { return .local("the client is closed") }
            inbox.post(command)
            return nil
        }
    }

    func count() async -> Int {
        await withCheckedContinuation { answer in
            if submit(.count(answer)) != nil { answer.resume(returning: 0) }
        }
    }

    func stop() {
        inbox.withLock { inbox in
            guard !inbox.isClosed else { return }
            inbox.post(.stop)
            inbox.isClosed = true
        }
    }

    func ended() async {
        await withCheckedContinuation { waiting in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.waitingForEnd.append(waiting) }
                return inbox.hasEnded
            }
            if hasEnded { waiting.resume() }
        }
    }

    // MARK: From the driver's own thread

    func serves(_ context: OpaquePointer?) {
        inbox.withLock { $0.context = context.map(Context.init(pointer:)) }
    }

    func exchange(_ spare: inout [Command]) {
        inbox.withLock { inbox in
            inbox.isAsleep = false
            swap(&inbox.commands, &spare)
        }
    }

    /// Whether nothing has come in, so that the loop may sleep; it will be woken if something does.
    func maySleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isAsleep = inbox.commands.isEmpty
            return inbox.isAsleep
        }
    }

    func hasEnded() {
        let waiting = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.waitingForEnd = [] }
            return inbox.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension WebSocketDriver.Inbox {
    fileprivate mutating func post(_ command: WebSocketDriver.Command) {
        commands.append(command)
        guard isAsleep, let context else { return }
        isAsleep = false
        cw_wake(context.pointer)
    }
}

/// The library's set of sockets.
// @unchecked because only the driver's thread uses it; to be woken, it is made for all threads.
private struct Context: @unchecked Sendable {
    let pointer: OpaquePointer
}
