import CSystem
import Glibc

/// How a thread is begun: for real, or (in a test of what happens then) not.
public typealias ThreadStart =
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

public let systemThread: ThreadStart = { (name, body) throws(SystemError) in
    try Thread.attempt(name: name, body)
}

/// A thread of its own, for what would block the shared pool: SQLite, epoll, curl.
public enum Thread {
    /// Starts a thread that runs `body` once.
    ///
    /// - Returns: A handle for ``Handle/join()``; a thread that is not joined ends by itself.
    @discardableResult
    public static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Handle {
        do {
            return try attempt(name: name, body)
        } catch {
            // Said in a release build as well.
            fatalError("The system refuses another thread (\(error)).")
        }
    }

    /// Starts a thread as ``start(name:_:)`` does, if the system has one to spare.
    @discardableResult
    public static func attempt(
        name: String,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> Handle {
        let handle = Handle(name: name, body: body)
        try handle.start()
        return handle
    }

    public final class Handle: Sendable {
        private let name: String
        private let body: @Sendable () -> Void
        private let thread = Lock<pthread_t?>(nil)

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        fileprivate func start() throws(SystemError) {
            var started = pthread_t()
            let context = Unmanaged.passRetained(self)
            let code = pthread_create(&started, nil, Self.entry, context.toOpaque())
            guard code == 0 else {
                context.release()
                throw SystemError("pthread_create \(name)", code: code)
            }
            thread.withLock { $0 = started }
        }

        /// Waits, blocking, until the body has returned. Only the first call waits.
        public func join() {
            guard let thread = thread.withLock({ $0.take() }) else { return }
            pthread_join(thread, nil)
        }

        private typealias Entry =
            @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

        // A static member, because a closure literal written in isolated code would inherit that
        // isolation and trap on the new thread.
        private static let entry: Entry = { context in
            guard let context else { return nil }
            let handle = Unmanaged<Handle>.fromOpaque(context).takeRetainedValue()
            handle.name.withCString(cs_name_thread)
            handle.body()
            return nil
        }

        deinit {
            if let thread = thread.withLock({ $0.take() }) { pthread_detach(thread) }
        }
    }
}
