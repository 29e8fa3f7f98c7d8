extension MessagePack {
    /// How a timestamp is written. Readers must know all three; servers differ in which they use.
    public enum TimestampForm: Sendable {
        /// The eight bytes, always.
        case eight
        /// The shortest that holds it.
        case shortest
    }

    public func bytes(_ form: TimestampForm = .eight) -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, form)
        return bytes
    }

    private func write(to bytes: inout [UInt8], _ form: TimestampForm) {
        switch self {
        case .null: bytes.append(0xC0)
        case .bool(let bool): bytes.append(bool ? 0xC3 : 0xC2)
        case .int(let int): Self.write(int, to: &bytes)
        case .double(let double):
            bytes.append(0xCB)
            bytes.append(bigEndian: double.bitPattern)
        case .string(let string):
            bytes.append(
                count: string.utf8.count,
                small: 0xA0,
                below: 32,
                heads: [0xD9, 0xDA, 0xDB]
            )
            bytes += string.utf8
        case .binary(let binary):
            bytes.append(count: binary.count, small: 0, below: 0, heads: [0xC4, 0xC5, 0xC6])
            bytes += binary
        case .array(let elements):
            bytes.append(count: elements.count, small: 0x90, below: 16, heads: [nil, 0xDC, 0xDD])
            for element in elements { element.write(to: &bytes, form) }
        case .map(let entries):
            bytes.append(count: entries.count, small: 0x80, below: 16, heads: [nil, 0xDE, 0xDF])
            for entry in entries {
                entry.key.write(to: &bytes, form)
                entry.value.write(to: &bytes, form)
            }
        case .timestamp(let seconds, let nanoseconds):
            Self.write(seconds, nanoseconds, to: &bytes, form)
        case .other(let type, let content):
            bytes.append(count: content.count, small: 0, below: 0, heads: [0xC7, 0xC8, 0xC9])
            bytes.append(UInt8(bitPattern: type))
            bytes += content
        }
    }

    private static func write(_ int: Int64, to bytes: inout [UInt8]) {
        switch int {
        case -32..<128: bytes.append(UInt8(truncatingIfNeeded: int))
        case 128..<256: bytes += [0xCC, UInt8(int)]
        case 256..<65_536:
            bytes.append(0xCD)
            bytes.append(bigEndian: UInt16(int))
        case 65_536..<4_294_967_296:
            bytes.append(0xCE)
            bytes.append(bigEndian: UInt32(int))
        default:
            bytes.append(0xD3)
            bytes.append(bigEndian: UInt64(bitPattern: int))
        }
    }

    private static func write(
        _ seconds: Int64,
        _ nanoseconds: UInt32,
        to bytes: inout [UInt8],
        _ form: TimestampForm
    ) {
        if form == .shortest, nanoseconds == 0, let seconds = UInt32(exactly: seconds) {
            bytes += [0xD6, 0xFF]
            bytes.append(bigEndian: seconds)
        } else if 0..<(1 << 34) ~= seconds {
            bytes += [0xD7, 0xFF]
            bytes.append(bigEndian: UInt64(nanoseconds) << 34 | UInt64(seconds))
        } else {
            bytes += [0xC7, 12, 0xFF]
            bytes.append(bigEndian: nanoseconds)
            bytes.append(bigEndian: UInt64(bitPattern: seconds))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// `heads` stand before counts of one, two and four bytes.
    fileprivate mutating func append(count: Int, small: UInt8, below limit: Int, heads: [UInt8?]) {
        if count < limit {
            append(small | UInt8(count))
        } else if count < 256, let head = heads[0] {
            self += [head, UInt8(count)]
        } else if count < 65_536, let head = heads[1] {
            append(head)
            append(bigEndian: UInt16(count))
        } else if let head = heads[2] {
            append(head)
            append(bigEndian: UInt32(count))
        }
    }
}
