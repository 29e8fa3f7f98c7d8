import CCrypto
public import System

/// Chance that is good enough for keys.
public protocol Entropy: Chance {
    func fill(_ bytes: UnsafeMutableRawBufferPointer)
}

/// OpenSSL's generator, which the system seeds.
public struct SystemEntropy: Entropy {
    public init() {}

    public func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let isFilled = cc_random(start, bytes.count) == 1
        precondition(isFilled, "A generator that cannot be seeded must never yield a key.")
    }

    public func next() -> UInt64 {
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { bytes in
            fill(bytes)
            return bytes.load(as: UInt64.self)
        }
    }
}

/// Keys and IVs that repeat with the seed: for tests and simulations only.
extension SeededChance: Entropy {
    public func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        var number: UInt64 = 0
        for index in bytes.indices {
            if index % 8 == 0 { number = next() }
            bytes[index] = UInt8(truncatingIfNeeded: number)
            number >>= 8
        }
    }
}
