extension Sequence<UInt8> {
    /// A number that stands for these bytes, the same in every process (FNV-1a).
    ///
    /// Only where nobody has a reason to make two of them look alike.
    @inlinable public var shortDigest: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
