/// The bytes of one scrape as they are written.
struct Page {
    private(set) var bytes: [UInt8] = []
    let format: ExpositionFormat

    init(_ format: ExpositionFormat, expecting size: Int = 0) {
        self.format = format
        bytes.reserveCapacity(size)
    }

    mutating func write(_ prepared: [UInt8]) {
        bytes += prepared
    }

    mutating func write(_ text: String) {
        bytes += text.utf8
    }

    mutating func endLine() {
        bytes.append(0x0A)
    }

    mutating func write(_ number: UInt64) {
        // The largest has 20 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number
            var start = 20
            repeat {
                start -= 1
                digits[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes += digits[start...]
        }
    }

    /// Ticks as a number of units, exact to the last digit. `ticksPerUnit` is a power of ten.
    mutating func write(ticks: UInt64, per ticksPerUnit: UInt64) {
        write(ticks / ticksPerUnit)
        var rest = ticks % ticksPerUnit
        guard rest > 0 else { return }
        bytes.append(0x2E)
        var digit = ticksPerUnit / 10
        while rest > 0 {
            bytes.append(0x30 + UInt8(truncatingIfNeeded: rest / digit))
            rest %= digit
            digit /= 10
        }
    }

    /// The shortest text that reads back as the same number.
    mutating func write(_ number: Double) {
        if number.isNaN { return write("NaN") }
        if number.isInfinite { return write(number < 0 ? "-Inf" : "+Inf") }
        guard let whole = Int64(exactly: number), whole.magnitude < 1 << 53 else {
            return write(number.description)
        }
        if whole < 0 { bytes.append(0x2D) }
        write(whole.magnitude)
    }
}
