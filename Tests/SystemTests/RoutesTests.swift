import Glibc
import TestSupport
import Testing

@testable import System

/// The kernel tells of links and routes; a network of the test's own is what changes.
@Suite struct RoutesTests {
    @Test(.enabled(if: Network.canBeMade))
    func `a link that comes up is told, once for all that goes with it`() async throws {
        let network = try Network()
        let routes = try network.routes.get()
        var changes = routes.changes.makeAsyncIterator()
        network.change()
        let told: Void? = await changes.next()
        #expect(told != nil)
        network.end()
    }

    @Test func `who lets go of it ends the stream`() async throws {
        var routes: Routes? = try Routes()
        let changes = try #require(routes).changes
        routes = nil
        for await _ in changes {}
        #expect(routes == nil)
    }
}

/// A network that only one thread sees, and what that thread has made in it.
private final class Network: Sendable {
    /// Whether this machine lets us have one, and has the tool that changes it.
    static let canBeMade: Bool = {
        let trial = try? Child.run("unshare", ["-n", "ip", "link", "set", "lo", "up"])
        return trial?.status == 0
    }()

    let routes: Result<Routes, SystemError>
    private let thread: Thread.Handle
    private let orders = Semaphore()

    init() throws {
        let (orders, made) = (orders, Made())
        thread = Thread.start(name: "network") {
            made.set(Self.makeRoutes())
            orders.wait()
            // A child is where its parent's thread is.
            _ = try? Child.run("ip", ["link", "set", "lo", "up"])
            orders.wait()
        }
        routes = made.wait()
    }

    func change() { orders.signal() }

    func end() {
        orders.signal()
        thread.join()
    }

    private static func makeRoutes() -> Result<Routes, SystemError> {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else {
            return .failure(SystemError("unshare", code: ENOSYS))
        }
        let unshare = unsafeBitCast(symbol, to: Unshare.self)
        let newNetwork: Int32 = 0x4000_0000
        guard unshare(newNetwork) == 0 else {
            return .failure(SystemError("unshare", code: errno))
        }
        do throws(SystemError) {
            return .success(try Routes())
        } catch {
            return .failure(error)
        }
    }
}

/// What the thread has made, for the one who waits for it.
private final class Made: Sendable {
    private let value = Lock<Result<Routes, SystemError>?>(nil)
    private let isThere = Semaphore()

    func set(_ routes: Result<Routes, SystemError>) {
        value.withLock { $0 = routes }
        isThere.signal()
    }

    func wait() -> Result<Routes, SystemError> {
        isThere.wait()
        return value.withLock { $0 } ?? .failure(SystemError("unshare", code: ENOSYS))
    }
}
