import HTTP
import Testing

@testable import Host

/// How descriptors are shared.
struct AllotmentTests {
    @Test(arguments: [128, 129, 256, 1_000, 1_024, 16_384, .max] as [UInt64])
    func `however few or many there are, each has some and the store keeps its own`(
        _ count: UInt64
    ) {
        let allotment = Allotment(of: count)
        let parts = [
            allotment.callers, allotment.operators, allotment.requests, allotment.lines,
        ]
        #expect(parts.allSatisfy { $0 >= 8 })
        #expect(UInt64(parts.reduce(0, +)) <= count - 64)
        // Of the store's own, 44 are left also when there is a crowd at both doors.
        let crowds = [allotment.callers, allotment.operators].map(Limits.crowd(beyond:))
        #expect(UInt64((parts + crowds).reduce(0, +)) <= count - 44)
    }

    @Test func `where there are many nobody but the lines has a use for more`() {
        let (many, more) = (Allotment(of: 4_096), Allotment(of: 65_536))
        #expect(many.callers == 1_024 && many.operators == 128 && many.requests == 128)
        #expect((more.callers, more.operators, more.requests) == (1_024, 128, 128))
        #expect(more.lines > 63_500)
    }
}
