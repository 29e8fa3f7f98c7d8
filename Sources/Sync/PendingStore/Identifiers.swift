public import System
public import Vault

extension Chance {
    /// A random UUID (version 4) as text.
    public func identifier() -> String {
        let (high, low) = (next().byteSwapped, next().byteSwapped)
        return Self.text(of: high & ~0xF000 | 0x4000, low)
    }

    /// A UUID that begins with the time (version 7) as text: what is made one after the other lies side by
    /// side in the store, so a transaction writes few pages of an index instead of one for each row.
    public func identifier(at moment: Moment) -> String {
        let (high, low) = (next().byteSwapped, next().byteSwapped)
        let milliseconds = UInt64(max(moment.ticks / Moment.ticksPerMillisecond, 0))
        return Self.text(of: milliseconds << 16 | 0x7000 | high & 0x0FFF, low)
    }

    private static func text(of high: UInt64, _ low: UInt64) -> String {
        let halves = (high, low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
        return String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                let half = index < 16 ? halves.0 : halves.1
                text[end] = digit(UInt8(truncatingIfNeeded: half >> (60 - 4 * (index % 16))) & 0x0F)
                end += 1
            }
            return end
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
