internal import CSystem

/// Where chance comes from: the system's generator in the host, a seeded one in a test.
public protocol Chance: Sendable {
    func next() -> UInt64
}

extension Chance {
    /// A number from 0 up to, but not including, 1.
    public func fraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A number of the range, all equally likely.
    public func number(in range: Range<Int>) -> Int {
        var generator = Generator(chance: self)
        return Int.random(in: range, using: &generator)
    }
}

private struct Generator<Source: Chance>: RandomNumberGenerator {
    let chance: Source
    mutating func next() -> UInt64 { chance.next() }
}

/// The kernel's numbers, fetched many at a time: to ask it costs more than all else about an identifier.
public final class SystemChance: Chance {
    private let numbers = Lock<[UInt64]>([])

    public init() {}

    public func next() -> UInt64 {
        numbers.withLock { numbers in
            if let number = numbers.popLast() { return number }
            numbers = Self.fetch()
            return numbers.removeLast()
        }
    }

    private static func fetch() -> [UInt64] {
        let count = 256 / MemoryLayout<UInt64>.size
        return [UInt64](unsafeUninitializedCapacity: count) { numbers, filled in
            precondition(cs_random(numbers.baseAddress) == 0, "There is no chance.")
            filled = count
        }
    }
}

/// The same numbers for the same seed, in every process and on every machine (SplitMix64).
public final class SeededChance: Chance {
    private let state: Lock<UInt64>

    public init(seed: UInt64) {
        state = Lock(seed)
    }

    public func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
