/// IVs drawn in advance.
///
/// OpenSSL's generator takes as long for a thousand bytes as for sixteen, and longer for either than
/// it takes to seal a short text. An IV has to be new and not to be foreseen; it need not be secret.
struct VectorSupply: ~Copyable {
    static let vectorCount = 16
    /// More would be a kilobyte for every account; an edit takes some ten.
    private static let drawnAtOnce = 16

    private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var used = 0

    /// Moves the next one to the target.
    mutating func take(to target: UnsafeMutableRawPointer, from entropy: any Entropy) {
        if used == bytes.count { draw(from: entropy) }
        let vector = UnsafeRawBufferPointer(rebasing: bytes[used..<used + Self.vectorCount])
        UnsafeMutableRawBufferPointer(start: target, count: Self.vectorCount)
            .copyMemory(from: vector)
        used += Self.vectorCount
    }

    private mutating func draw(from entropy: any Entropy) {
        if bytes.isEmpty {
            let count = Self.drawnAtOnce * Self.vectorCount
            bytes = .allocate(byteCount: count, alignment: 16)
        }
        entropy.fill(bytes)
        used = 0
    }

    deinit { bytes.deallocate() }
}
