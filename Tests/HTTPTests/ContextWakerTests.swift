import CWebsockets
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

    @Test func `an alarm that was due before the library looked lets it sleep no more than others`()
        throws
    {
        var callbacks = WebSocketCallbacks.table()
        let context = try #require(cw_context_new(nil, 60, &callbacks))
        defer { cw_context_free(context) }
        let began = ContinuousClock.now
        for _ in 0..<20 {
            cw_alarm(context, 0)
            cw_serve(context)
        }
        #expect(ContinuousClock.now - began < .seconds(5))
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
