import Testing
import Vault

@testable import Sync

/// The longest wait of single changes that is in force.
@Suite struct WaitsTests {
    private static func moment(_ second: Int64) -> Moment { Moment(ticks: second * 10_000_000) }

    private var waits = Waits()

    private mutating func see(_ latest: Int64?, at second: Int64) {
        waits.see(latest.map(Self.moment), at: Self.moment(second))
    }

    private func longest(at second: Int64) -> Duration? { waits.longest(at: Self.moment(second)) }

    @Test mutating func `a wait is as long as it was, until it is over`() {
        see(40, at: 0)
        see(40, at: 30)
        #expect(longest(at: 39) == .seconds(40))
        #expect(longest(at: 40) == nil)
    }

    @Test mutating func `a shorter one that ends later counts when the longer one is over`() {
        see(40, at: 0)
        see(44, at: 34)
        #expect(longest(at: 39) == .seconds(40))
        #expect(longest(at: 41) == .seconds(10))
    }

    @Test mutating func `what somebody has tried meanwhile waits no more`() {
        see(900, at: 0)
        see(20, at: 10)
        #expect(longest(at: 11) == .seconds(10))
        see(nil, at: 12)
        #expect(longest(at: 12) == nil)
    }
}
