/// Where a value or a member's name lies in its text.
struct Extent {
    var start: Int
    /// The offset of the byte after the last.
    var end: Int
    /// Only of strings and names.
    var hasEscapes = false
}

/// An ``Extent`` in eight bytes.
struct Place {
    private let packedStart: UInt32
    private let packedEnd: UInt32

    private static let escapes: UInt32 = 1 << 31

    init(_ extent: Extent) {
        let flag = extent.hasEscapes ? Self.escapes : 0
        packedStart = UInt32(truncatingIfNeeded: extent.start) | flag
        packedEnd = UInt32(truncatingIfNeeded: extent.end)
    }

    @inline(__always)
    var extent: Extent {
        Extent(
            start: Int(packedStart & ~Self.escapes),
            end: Int(packedEnd),
            hasEscapes: packedStart & Self.escapes != 0
        )
    }
}
