import Synchronization
import System
import Testing

@testable import Crypto

struct WorkshopTests {
    private let floor = KeyDerivation.pbkdf2(iterations: 5_000)

    @Test func `a derivation in the workshop gives the same key`() async throws {
        let thread = try WorkshopThread()
        let key = try await MasterKey.derived(
            from: Secret(utf8: "password"),
            salt: "salt",
            by: floor,
            in: thread.workshop
        )
        let here = try MasterKey(
            password: Secret(utf8: "password"),
            salt: "salt",
            derivation: floor
        )
        #expect(key.serverHash == here.serverHash)
        thread.stop()
    }

    @Test func `what the workshop refuses arrives as it was`() async throws {
        let thread = try WorkshopThread()
        await #expect(
            throws: CryptoError.outOfBounds(
                .pbkdf2Iterations,
                value: 1,
                allowed: 5_000...10_000_000
            )
        ) {
            let key = try await MasterKey.derived(
                from: Secret(utf8: "password"),
                salt: "salt",
                by: .pbkdf2(iterations: 1),
                in: thread.workshop
            )
            return key.serverHash
        }
        thread.stop()
    }

    @Test func `the work is done on the executor that was given`() async throws {
        let bell = Semaphore()
        let executor = LoopExecutor { bell.signal() }
        let isDone = Atomic(false)
        let thread = Thread.start(name: "test loop") {
            executor.adoptThread()
            while !isDone.load(ordering: .acquiring) {
                bell.wait()
                executor.runJobs()
            }
        }
        let product = try await Workshop(on: executor).run(Secret([1])) {
            material throws(CryptoError) in
            Secret(material.revealedBytes() + [executor.isOnLoop ? 2 : 0])
        }
        #expect(product.revealedBytes() == [1, 2])
        #expect(!executor.isOnLoop)
        isDone.store(true, ordering: .releasing)
        bell.signal()
        thread.join()
    }

    @Test
    func `what has not begun when the workshop closes is dropped, and whoever asked hears that`()
        async throws
    {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let executor = LoopExecutor { arrived.yield() }
        let workshop = Workshop(on: executor)
        let isBegun = Atomic(false)
        let waiting = Task {
            try await workshop.run(Secret([1])) { _ throws(CryptoError) -> Int in
                isBegun.store(true, ordering: .releasing)
                return 1
            }
        }
        for await _ in arrivals { break }
        workshop.close()
        let thread = Thread.start(name: "test loop") {
            executor.adoptThread()
            executor.runJobs()
        }
        await #expect(throws: CryptoError.notBegun) { try await waiting.value }
        await #expect(throws: CryptoError.notBegun, "nobody is there any more") {
            try await workshop.run(Secret([1])) { _ throws(CryptoError) -> Int in 1 }
        }
        thread.join()
        let wasBegun = isBegun.load(ordering: .acquiring)
        #expect(!wasBegun)
    }

    @Test func `an account opens in the workshop`() async throws {
        let thread = try WorkshopThread()
        let user = SymmetricKey(from: SeededChance(seed: 10))
        let id = user.id
        let rsa = try rsaKey()
        let account = WrappedKeys(privateKey: try Sealer(user.duplicate()).seal(rsa.pkcs8()))
        let ring = try await KeyRing.opened(user: user, account: account, in: thread.workshop)
        #expect(ring.user.keyID == id)
        thread.stop()
    }
}
