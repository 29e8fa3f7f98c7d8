import CWebsockets
import Synchronization
import System

/// The sockets' thread, as seen from all others.
final class WebSocketDriver: Sendable {
    enum Command: Sendable {
        case open(WebSocketLink)
        case resolved(UInt64, NameLookup.Answer)
        case cancel(UInt64)
        case resume(UInt64)
        case send(UInt64, Letter)
        case takeBack(UInt64, UInt64)
        case goodbye(UInt64, UInt16)
        case count(CheckedContinuation<Int?, Never>)
        case stop
    }

    let inbox: Inbox<Command>
    let waker = ContextWaker()
    private let lastID = Atomic<UInt64>(0)

    init(
        configuration: WebSocketClient.Configuration,
        timekeeper: any Timekeeper,
        nameLookup: NameLookup,
        startThread: ThreadStart
    ) throws(SystemError) {
        inbox = Inbox { [waker] in waker.wake() }
        try startThread("websockets") { [self] in
            WebSocketLoop(
                self,
                configuration: configuration,
                timekeeper: timekeeper,
                nameLookup: nameLookup
            ).run()
        }
    }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    func post(_ command: Command) { inbox.post(command) }

    /// - Returns: Why the command is not taken over, if it is not.
    func submit(_ command: Command) -> WebSocketError.Reason? {
        switch inbox.submit(command) {
        case nil: nil
        case .cancelled: .cancelled
        case .closed: .local("the client is closed")
        }
    }

    func count() async -> Int { await inbox.ask { .count($0) } ?? 0 }

    func stop() { inbox.close(with: .stop) }
}

/// Gets the loop out of its sleep: the library's, once it is there.
final class ContextWaker: Sendable {
    // @unchecked because only waking is done here, which is made for all threads.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private struct State {
        /// Used under the lock, so that it is not freed meanwhile.
        var context: Context?
        var naps = false
        var wasCalled = false
    }

    private let state = Lock(State())
    private let calls = Semaphore()

    func set(_ context: OpaquePointer?) {
        state.withLock { $0.context = context.map(Context.init(pointer:)) }
    }

    func wake() {
        state.withLock { state in
            if let context = state.context, !state.naps { return cw_wake(context.pointer) }
            state.wasCalled = state.naps
            calls.signal()
        }
    }

    /// Sleeps while there is no library. A call may have come before.
    func awaitCall() { calls.wait() }

    /// Sleeps for so long while there is one, and looks at nothing.
    ///
    /// - Returns: Whether somebody has called.
    func nap(for time: Duration) -> Bool {
        state.withLock { $0.naps = true }
        let isSignalled = calls.wait(atMost: time)
        let wasCalled = state.withLock { state in
            defer { (state.naps, state.wasCalled) = (false, false) }
            return state.wasCalled
        }
        // It came when the time was over already.
        if wasCalled, !isSignalled { calls.wait() }
        return isSignalled || wasCalled
    }
}
