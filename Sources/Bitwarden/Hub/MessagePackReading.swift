extension MessagePack {
    /// Why bytes are not MessagePack, or not what may be sent.
    public enum Flaw: Error, Sendable, Hashable {
        /// The bytes stop in the middle of a value.
        case ended
        /// Something follows the value.
        case trailing
        /// 0xC1, which means nothing.
        case reserved
        case notUTF8
        case badTimestamp
        case tooDeep
        /// A whole number above what `Int64` holds.
        case tooLarge
    }

    private static let depthLimit = 64

    /// Reads one value and nothing after it.
    public init(_ bytes: ArraySlice<UInt8>) throws(Flaw) {
        var reader = Reader(rest: bytes)
        self = try reader.value(depth: 0)
        if !reader.rest.isEmpty { throw .trailing }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func value(depth: Int) throws(Flaw) -> MessagePack {
            guard depth < depthLimit else { throw .tooDeep }
            let head = UInt8(try number(bytes: 1))
            switch head {
            case 0x00...0x7F: return .int(Int64(head))
            case 0xE0...0xFF: return .int(Int64(Int8(bitPattern: head)))
            case 0x80...0x8F: return try map(count: Int(head & 0x0F), depth)
            case 0x90...0x9F: return try array(count: Int(head & 0x0F), depth)
            case 0xA0...0xBF: return try string(count: Int(head & 0x1F))
            case 0xC0: return .null
            case 0xC1: throw .reserved
            case 0xC2: return .bool(false)
            case 0xC3: return .bool(true)
            case 0xC4...0xC6: return .binary(Array(try take(try length(head - 0xC4))))
            case 0xC7...0xC9: return try extended(count: try length(head - 0xC7))
            case 0xCA: return .double(Double(Float(bitPattern: UInt32(try number(bytes: 4)))))
            case 0xCB: return .double(Double(bitPattern: try number(bytes: 8)))
            case 0xCC...0xCF: return try unsigned(bytes: 1 << Int(head - 0xCC))
            case 0xD0...0xD3: return try signed(bytes: 1 << Int(head - 0xD0))
            case 0xD4...0xD8: return try extended(count: 1 << Int(head - 0xD4))
            case 0xD9...0xDB: return try string(count: try length(head - 0xD9))
            case 0xDC...0xDD: return try array(count: try length(head - 0xDC + 1), depth)
            default: return try map(count: try length(head - 0xDE + 1), depth)
            }
        }

        /// A count in 1, 2 or 4 bytes.
        private mutating func length(_ power: UInt8) throws(Flaw) -> Int {
            Int(try number(bytes: 1 << Int(power)))
        }

        private mutating func take(_ count: Int) throws(Flaw) -> ArraySlice<UInt8> {
            guard count <= rest.count else { throw .ended }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        private mutating func number(bytes count: Int) throws(Flaw) -> UInt64 {
            try take(count).reduce(0) { $0 << 8 | UInt64($1) }
        }

        private mutating func unsigned(bytes count: Int) throws(Flaw) -> MessagePack {
            guard let number = Int64(exactly: try number(bytes: count)) else { throw .tooLarge }
            return .int(number)
        }

        private mutating func signed(bytes count: Int) throws(Flaw) -> MessagePack {
            let shift = 64 - count * 8
            return .int(Int64(bitPattern: try number(bytes: count) << UInt64(shift)) >> shift)
        }

        private mutating func string(count: Int) throws(Flaw) -> MessagePack {
            guard let string = String(validating: try take(count), as: UTF8.self) else {
                throw .notUTF8
            }
            return .string(string)
        }

        private mutating func array(count: Int, _ depth: Int) throws(Flaw) -> MessagePack {
            // Every element takes a byte at least, so no count reserves more than was sent.
            guard count <= rest.count else { throw .ended }
            var elements: [MessagePack] = []
            for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
            return .array(elements)
        }

        private mutating func map(count: Int, _ depth: Int) throws(Flaw) -> MessagePack {
            guard count <= rest.count else { throw .ended }
            var entries: [Entry] = []
            for _ in 0..<count {
                let key = try value(depth: depth + 1)
                entries.append(Entry(key, try value(depth: depth + 1)))
            }
            return .map(entries)
        }

        private mutating func extended(count: Int) throws(Flaw) -> MessagePack {
            let type = Int8(bitPattern: UInt8(try number(bytes: 1)))
            guard type == -1 else { return .other(type: type, Array(try take(count))) }
            switch count {
            case 4: return .timestamp(seconds: Int64(try number(bytes: 4)), nanoseconds: 0)
            case 8:
                let packed = try number(bytes: 8)
                return try timestamp(Int64(packed & 0x3_FFFF_FFFF), packed >> 34)
            case 12:
                let nanoseconds = try number(bytes: 4)
                return try timestamp(Int64(bitPattern: try number(bytes: 8)), nanoseconds)
            default: throw .badTimestamp
            }
        }

        private func timestamp(_ seconds: Int64, _ fraction: UInt64) throws(Flaw) -> MessagePack {
            guard fraction < 1_000_000_000 else { throw .badTimestamp }
            return .timestamp(seconds: seconds, nanoseconds: UInt32(fraction))
        }
    }
}
