#if THREAD_SANITIZER
    import CSystem

    /// A value that only one thread at a time can reach.
    ///
    /// The thread sanitizer does not see the futex inside `Mutex` and would report races that are
    /// none, so under it the lock is a pthread mutex.
    public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
        private let storage: Storage

        public init(_ value: consuming sending Value) {
            storage = Storage(value)
        }

        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            cs_mutex_lock(storage.mutex)
            defer { cs_mutex_unlock(storage.mutex) }
            return try body(&storage.value)
        }

        // @unchecked because the mutex guards the value, which the compiler cannot see.
        private final class Storage: @unchecked Sendable {
            let mutex = cs_mutex_new()
            var value: Value

            init(_ value: consuming Value) { self.value = value }
            deinit { cs_mutex_free(mutex) }
        }
    }
#else
    public import Synchronization

    /// A value that only one thread at a time can reach.
    @frozen
    public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<Value>

        @inlinable
        public init(_ value: consuming sending Value) {
            mutex = Mutex(value)
        }

        @inlinable
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }
#endif
