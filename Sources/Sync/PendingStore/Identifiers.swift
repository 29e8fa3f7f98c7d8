public import System
public import Vault

extension Chance {
    /// A random UUID (version 4) as text.
    public func identifier() -> String {
        var bytes = randomBytes()
        bytes[6] = bytes[6] & 0x0f | 0x40
        return Self.text(of: bytes)
    }

    /// A UUID that begins with the time (version 7) as text: what is made one after the other lies side by
    /// side in the store, so a transaction writes few pages of an index instead of one for each row.
    public func identifier(at moment: Moment) -> String {
        var bytes = randomBytes()
        let milliseconds = UInt64(max(moment.ticks / Moment.ticksPerMillisecond, 0))
        for index in 0..<6 {
            bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (8 * UInt64(5 - index)))
        }
        bytes[6] = bytes[6] & 0x0f | 0x70
        return Self.text(of: bytes)
    }

    private func randomBytes() -> [UInt8] {
        let (high, low) = (next(), next())
        return (0..<16).map { index in
            let half = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: half >> (8 * UInt64(index % 8)))
        }
    }

    private static func text(of random: [UInt8]) -> String {
        var bytes = random
        bytes[8] = bytes[8] & 0x3f | 0x80
        return String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            func put(_ character: UInt8) {
                text[end] = character
                end += 1
            }
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 { put(UInt8(ascii: "-")) }
                put(digit(byte >> 4))
                put(digit(byte & 0x0f))
            }
            return end
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
