import CCurl
import System

/// The client's thread, as seen from all others.
final class Driver: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        case cancel(UInt64)
        case resume(UInt64)
        case count(CheckedContinuation<Client.Load?, Never>)
        case stop
    }

    let inbox: Inbox<Command>
    let executor: LoopExecutor
    let bell: Bell

    init(
        configuration: Client.Configuration,
        trust: Trust?,
        startThread: ThreadStart
    ) throws(ClientError) {
        do { bell = try Bell() } catch {
            throw ClientError(settingUp: .local("\(error)"))
        }
        guard CurlLibrary.isReady,
            let pointer = cc_multi_new(configuration.keptConnections)
        else { throw ClientError(settingUp: .local("libcurl cannot be set up")) }
        let ring: @Sendable () -> Void = { [bell] in bell.ring() }
        inbox = Inbox(wake: ring)
        executor = LoopExecutor(wake: ring)
        do {
            try start(Multi(pointer: pointer), configuration, trust, startThread)
        } catch {
            cc_multi_free(pointer)
            throw ClientError(settingUp: .local("there is no thread for it: \(error)"))
        }
    }

    private func start(
        _ multi: Multi,
        _ configuration: Client.Configuration,
        _ trust: Trust?,
        _ startThread: ThreadStart
    ) throws(SystemError) {
        try startThread("http-client") { [self] in
            executor.adoptThread()
            DriverLoop(
                self,
                multi: multi.pointer,
                configuration: configuration,
                trust: trust
            ).run()
        }
    }

    func cancel(_ id: UInt64) { inbox.post(.cancel(id)) }
    func resume(_ id: UInt64) { inbox.post(.resume(id)) }

    func load() async -> Client.Load {
        await inbox.ask { .count($0) } ?? Client.Load(underWay: 0, waiting: 0)
    }

    /// Ends all transfers and then the thread.
    func stop() { inbox.close(with: .stop) }
}

/// curl's set of transfers.
// @unchecked because only the driver's thread uses it.
private struct Multi: @unchecked Sendable {
    let pointer: OpaquePointer
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

extension Client {
    /// Whether servers could be trusted by what lies there: certificates in PEM.
    public static func canTrust(authoritiesAt path: String) -> Bool {
        (try? Trust(path: path)) != nil
    }
}

extension ClientError {
    init(settingUp reason: Reason) {
        self.init(reason: reason, operation: "set-up", server: "none", progress: Progress())
    }
}
