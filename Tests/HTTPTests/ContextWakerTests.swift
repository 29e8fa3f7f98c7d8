import System
import Testing

@testable import HTTP

/// The nap of the sockets' thread, which looks at many of them less often.
struct ContextWakerTests {
    @Test func `whoever naps wakes when it is time, or when somebody calls`() {
        let waker = ContextWaker()
        #expect(!waker.nap(for: .milliseconds(1)))
        let began = ContinuousClock.now
        let caller = Thread.start(name: "caller") { waker.wake() }
        #expect(waker.nap(for: .seconds(60)))
        caller.join()
        #expect(ContinuousClock.now - began < .seconds(30))
    }

    @Test func `a call in the last moment of a nap is not lost, nor heard twice`() {
        let waker = ContextWaker()
        for _ in 0..<2_000 {
            let calls = Lock(0)
            let caller = Thread.start(name: "caller") {
                waker.wake()
                calls.withLock { $0 += 1 }
            }
            if !waker.nap(for: .microseconds(40)) { waker.awaitCall() }
            caller.join()
            #expect(calls.withLock { $0 } == 1)
            #expect(!waker.nap(for: .zero), "The next nap hears nothing of it.")
        }
    }
}
