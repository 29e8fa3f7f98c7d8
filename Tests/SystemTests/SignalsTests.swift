import Glibc
import System
import Testing

/// What can be seen without a signal being sent: the threads of a test process do not block any, so
/// it would not survive one.
struct SignalsTests {
    @Test func `the signals have the numbers of the system`() {
        #expect(Signal.hangUp.rawValue == SIGHUP)
        #expect(Signal.interrupt.rawValue == SIGINT)
        #expect(Signal.terminate.rawValue == SIGTERM)
    }

    @Test func `blocked signals stay blocked in threads that are started later`() {
        let blocked = Collected<Bool>()
        Thread.start(name: "main") {
            Signals.block()
            Thread.start(name: "later") {
                for signal in Signal.allCases { blocked.append(isBlocked(signal)) }
            }.join()
        }.join()
        #expect(blocked.values == [true, true, true])
    }

    @Test func `a peer that hangs up is an error, not the end`() throws {
        let errors = Collected<Int32>()
        Thread.start(name: "main") {
            Signals.block()
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            close(ends[0])
            if write(ends[1], "x", 1) < 0 { errors.append(errno) }
            close(ends[1])
        }.join()
        #expect(errors.values == [EPIPE])
    }
}

private func isBlocked(_ signal: Signal) -> Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return sigismember(&mask, signal.rawValue) == 1
}
