internal import FoundationEssentials
public import System
internal import Vault

extension Chance {
    /// A random UUID (version 4) as text.
    public func identifier() -> String {
        var bytes = sixteenBytes()
        bytes[6] = bytes[6] & 0x0f | 0x40
        return Self.text(bytes)
    }

    /// One that begins with the time (version 7), so that what is made one after the other lies side by
    /// side in a table: with thousands of accounts, each edit would else touch pages of its own.
    func identifier(at moment: Moment) -> String {
        var bytes = sixteenBytes()
        let milliseconds = max(moment.ticks / Moment.ticksPerMillisecond, 0)
        for index in 0..<6 {
            bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> (8 * (5 - index)))
        }
        bytes[6] = bytes[6] & 0x0f | 0x70
        return Self.text(bytes)
    }

    private func sixteenBytes() -> [UInt8] {
        let (high, low) = (next(), next())
        return (0..<16).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> (8 * UInt64(index % 8)))
        }
    }

    private static func text(_ random: [UInt8]) -> String {
        var bytes = random
        bytes[8] = bytes[8] & 0x3f | 0x80
        let uuid = bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
        return UUID(uuid: uuid).uuidString.lowercased()
    }
}
