import Synchronization
public import System

/// Where work that takes long is done, so that nobody waits behind it: key derivation and RSA.
///
/// A host gives it a thread of its own (``WorkshopThread``), a simulation its seeded executor, on
/// which everything then happens in the order of the seed.
public struct Workshop: Sendable {
    private let executor: any TaskExecutor
    private let shutter = Shutter()

    /// Once it is down, nothing is begun any more.
    fileprivate final class Shutter: Sendable {
        private let state = Atomic(false)

        var isDown: Bool { state.load(ordering: .acquiring) }

        func close() { state.store(true, ordering: .releasing) }
    }

    public init(on executor: any TaskExecutor) {
        self.executor = executor
    }

    /// Drops what waits for its turn, and whatever comes from now on; whoever asks for it hears that. What is under
    /// way cannot be called off.
    public func close() { shutter.close() }

    /// Does the work on the workshop's executor, with a material that nobody else has meanwhile.
    func run<Material: ~Copyable & Sendable, Product: ~Copyable & Sendable>(
        _ material: consuming Material,
        _ work: @escaping @Sendable (borrowing Material) throws(CryptoError) -> Product
    ) async throws(CryptoError) -> Product {
        guard !shutter.isDown else { throw .notBegun }
        let bench = Bench(material, work)
        await withTaskExecutorPreference(executor) { await bench.work(under: shutter) }
        return try bench.takeProduct()
    }
}

/// Carries what cannot be copied through an executor's generic, copying doors.
private final class Bench<Material: ~Copyable & Sendable, Product: ~Copyable & Sendable>: Sendable {
    private let material: Lock<Material?>
    private let product = Lock<Product?>(nil)
    private let failure = Lock<CryptoError?>(nil)
    private let make: @Sendable (borrowing Material) throws(CryptoError) -> Product

    init(
        _ material: consuming Material,
        _ make: @escaping @Sendable (borrowing Material) throws(CryptoError) -> Product
    ) {
        self.material = Lock(material)
        self.make = make
    }

    /// Concurrent, so that it leaves the caller's executor for the preferred one.
    @concurrent func work(under shutter: Workshop.Shutter) async {
        guard let material = material.withLock({ $0.take() }) else { return }
        do throws(CryptoError) {
            guard !shutter.isDown else { throw .notBegun }
            var made: Product? = try make(material)
            product.withLock { $0 = made.take() }
        } catch {
            failure.withLock { $0 = error }
        }
    }

    func takeProduct() throws(CryptoError) -> Product {
        if let failure = failure.withLock({ $0 }) { throw failure }
        guard let product = product.withLock({ $0.take() }) else {
            preconditionFailure("The executor has let go of work that it took.")
        }
        return product
    }
}

/// The thread of a host's ``Workshop``. There is one, so derivations queue up and their memory does
/// not add up.
public final class WorkshopThread: Sendable {
    public let workshop: Workshop
    private let thread: Thread.Handle
    private let bell: Semaphore
    private let closing: Closing

    private final class Closing: Sendable {
        let isDue = Atomic(false)
    }

    /// - Throws: If the system has no thread to spare.
    public init(name: String = "workshop") throws(SystemError) {
        let bell = Semaphore()
        let closing = Closing()
        let executor = LoopExecutor { bell.signal() }
        self.bell = bell
        self.closing = closing
        workshop = Workshop(on: executor)
        thread = try Thread.attempt(name: name) {
            executor.adoptThread()
            while !closing.isDue.load(ordering: .acquiring) {
                executor.runJobs()
                bell.wait()
            }
            executor.runJobs()
        }
    }

    /// Closes the workshop, waits for what is under way there, and ends the thread. Nobody may ask for more
    /// afterwards.
    public func stop() {
        workshop.close()
        closing.isDue.store(true, ordering: .releasing)
        bell.signal()
        thread.join()
    }
}
