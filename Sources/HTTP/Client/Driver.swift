import CCurl
import System

/// The client's thread, as seen from all others: an inbox, and a way to wake it.
final class Driver: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        case cancel(UInt64)
        case resume(UInt64)
        case count(CheckedContinuation<Client.Load, Never>)
        case stop
    }

    fileprivate struct Inbox {
        var commands: [Command] = []
        var isAsleep = false
        var isClosed = false
        var hasEnded = false
        /// Gone once the loop has ended.
        var multi: Multi?
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    private let inbox: Lock<Inbox>
    let executor: LoopExecutor

    init(configuration: Client.Configuration, trust: Trust?) throws(ClientError) {
        guard CurlLibrary.isReady,
            let multi = cc_multi_new(
                configuration.requestsPerHost,
                configuration.keptConnections
            )
        else { throw ClientError(settingUp: .local("libcurl cannot be set up")) }
        inbox = Lock(Inbox(multi: Multi(pointer: multi)))
        let waker = Waker()
        executor = LoopExecutor { waker.wake() }
        waker.driver.withLock { $0 = Weak(self) }
        start(Multi(pointer: multi), configuration, trust)
    }

    private func start(_ multi: Multi, _ configuration: Client.Configuration, _ trust: Trust?) {
        Thread.start(name: "http-client") { [self] in
            executor.adoptThread()
            DriverLoop(
                self,
                multi: multi.pointer,
                configuration: configuration,
                trust: trust
            ).run()
        }
    }

    // MARK: From any thread

    /// - Returns: Whether the transfer was taken over. It is not if the task is cancelled already:
    ///   that is looked up under the lock, so a cancellation either is seen here or comes after.
    func start(_ transfer: Transfer) -> Refusal? {
        inbox.withLock { inbox in
            if Task.isCancelled { return .cancelled }
            if inbox.isClosed { return .closed }
            inbox.post(.start(transfer))
            return nil
        }
    }

    enum Refusal { case cancelled, closed }

    func cancel(_ id: UInt64) { post(.cancel(id)) }
    func resume(_ id: UInt64) { post(.resume(id)) }

    func load() async -> Client.Load {
        await withCheckedContinuation { answer in
            let isTaken = inbox.withLock { inbox in
                if !inbox.isClosed { inbox.post(.count(answer)) }
                return !inbox.isClosed
            }
            if !isTaken { answer.resume(returning: Client.Load(underWay: 0, waiting: 0)) }
        }
    }

    /// Ends all transfers and then the thread.
    func stop() {
        inbox.withLock { inbox in
            guard !inbox.isClosed else { return }
            inbox.post(.stop)
            inbox.isClosed = true
        }
    }

    func ended() async {
        await withCheckedContinuation { waiting in
            let isEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.waitingForEnd.append(waiting) }
                return inbox.hasEnded
            }
            if isEnded { waiting.resume() }
        }
    }

    private func post(_ command: Command) {
        inbox.withLock { inbox in
            if !inbox.isClosed { inbox.post(command) }
        }
    }

    fileprivate func wake() {
        inbox.withLock { inbox in
            if let multi = inbox.multi { cc_multi_wake(multi.pointer) }
        }
    }

    // MARK: From the driver's own thread

    /// The commands that have come in, exchanged for the emptied `spare`.
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

    /// Nobody may wake what is about to be freed; nobody hears of the end before it is.
    func end(_ multi: OpaquePointer) {
        inbox.withLock { $0.multi = nil }
        cc_multi_free(multi)
        let waiting = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.waitingForEnd = [] }
            return inbox.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension Driver.Inbox {
    fileprivate mutating func post(_ command: Driver.Command) {
        commands.append(command)
        guard isAsleep, let multi else { return }
        isAsleep = false
        cc_multi_wake(multi.pointer)
    }
}

/// curl's set of transfers.
// @unchecked because only the driver's thread uses it; to be woken, it is made for all threads.
private struct Multi: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// What the executor knows of the driver that owns it.
private final class Waker: Sendable {
    let driver = Lock<Weak?>(nil)

    func wake() { driver.withLock { $0?.driver }?.wake() }
}

private struct Weak {
    weak var driver: Driver?
    init(_ driver: Driver) { self.driver = driver }
}

/// Done once in a process, by whoever comes first.
enum CurlLibrary {
    static let isReady = cc_global_init() == 0
}

/// Authorities that are trusted besides those of the system.
// @unchecked because the certificates are only read once they are loaded.
final class Trust: @unchecked Sendable {
    let certificates: OpaquePointer

    init(path: String) throws(ClientError) {
        guard let certificates = cc_trust_new(path) else {
            throw ClientError(settingUp: .local("no PEM certificate can be read from \(path)"))
        }
        self.certificates = certificates
    }

    deinit { cc_trust_free(certificates) }
}

extension ClientError {
    init(settingUp reason: Reason) {
        self.init(reason: reason, operation: "set-up", server: "none", progress: Progress())
    }
}
