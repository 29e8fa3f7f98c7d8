/// What a histogram can observe: something that is counted in whole ticks.
public protocol Quantity: Sendable {
    /// Never negative.
    var ticks: UInt64 { get }
    /// How many ticks make one of the base unit.
    static var ticksPerUnit: UInt64 { get }
    /// The unit that the metric's name has to end in, if the type decides that.
    static var unit: Unit? { get }
}

extension Duration: Quantity {
    public static var ticksPerUnit: UInt64 { 1_000_000_000 }
    public static var unit: Unit? { .seconds }

    /// Nanoseconds, as many as fit; that is 584 years.
    public var ticks: UInt64 {
        let attoseconds = attoseconds
        // Up to 18 seconds it fits into a machine word, which is much quicker to divide.
        if let small = UInt64(exactly: attoseconds) { return small / 1_000_000_000 }
        return UInt64(clamping: attoseconds / 1_000_000_000)
    }
}

extension Int: Quantity {
    public static var ticksPerUnit: UInt64 { 1 }
    public static var unit: Unit? { nil }

    public var ticks: UInt64 { UInt64(clamping: self) }
}
