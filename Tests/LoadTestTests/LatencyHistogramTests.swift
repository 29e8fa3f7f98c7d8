@testable import LoadTest
import System
import Testing

struct LatencyHistogramTests {
    @Test func `percentiles are those of the sorted times, within two parts in a hundred`() {
        let chance = SeededChance(seed: 11)
        var histogram = LatencyHistogram()
        var times: [Int] = []
        for _ in 0..<20_000 {
            // From a microsecond to a minute, each size as likely as any other.
            let time = (1 << chance.number(in: 0..<26)) + chance.number(in: 0..<1_000)
            times.append(time)
            histogram.add(.microseconds(time))
        }
        times.sort()
        for share in [0.5, 0.9, 0.99, 0.999, 1] {
            let exact = Double(times[max(0, Int((share * 20_000).rounded(.up)) - 1)])
            let found = histogram.percentile(share).inSeconds * 1_000_000
            #expect(found >= exact && found <= exact * 1.02 + 1, "\(share): \(found), \(exact)")
        }
        #expect(histogram.count == 20_000)
    }

    @Test func `histograms add up, and what came before can be taken away`() {
        var (early, late) = (LatencyHistogram(), LatencyHistogram())
        for time in 1...100 { early.add(.milliseconds(time)) }
        for time in 101...200 { late.add(.milliseconds(time)) }
        var both = early
        both.add(late)
        #expect(both.count == 200)
        #expect(both.largest == .milliseconds(200))
        #expect(both.percentile(0.5) < .milliseconds(103))
        let rest = both.removing(early)
        #expect(rest.count == 100)
        #expect(rest.percentile(0.01) > .milliseconds(100))
    }

    @Test func `nothing has no percentiles, and one time is all of them`() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(0.99) == .zero)
        histogram.add(.milliseconds(7))
        #expect(histogram.percentile(0.001) == .milliseconds(7))
        #expect(histogram.percentile(1) == .milliseconds(7))
    }

    @Test func `what took longer than an hour, or less than nothing, is counted all the same`() {
        var histogram = LatencyHistogram()
        histogram.add(.seconds(90_000))
        histogram.add(.seconds(-1))
        #expect(histogram.count == 2)
        #expect(histogram.percentile(0.5) == .zero)
    }
}
