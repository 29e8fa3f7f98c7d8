/// MessagePack, as much of it as the hub needs: everything can be read, and what hubs say written.
public indirect enum MessagePack: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case binary([UInt8])
    case array([MessagePack])
    /// In order, for order is part of what is written.
    case map([Entry])
    /// Seconds since 1970 and nanoseconds on top of them.
    case timestamp(seconds: Int64, nanoseconds: UInt32)
    /// An extension that nobody here knows.
    case other(type: Int8, [UInt8])

    public struct Entry: Sendable, Hashable {
        public let key: MessagePack
        public let value: MessagePack

        public init(_ key: MessagePack, _ value: MessagePack) {
            self.key = key
            self.value = value
        }
    }

    /// The value of that name in a map, its first letter in either case.
    public subscript(name: String) -> MessagePack? {
        guard case .map(let entries) = self else { return nil }
        return entries.last { entry in
            guard case .string(let key) = entry.key else { return false }
            return key == name || key.lowercased() == name.lowercased()
        }?.value
    }

    public var string: String? { if case .string(let string) = self { string } else { nil } }
    public var int: Int? { if case .int(let int) = self { Int(int) } else { nil } }
    public var array: [MessagePack]? { if case .array(let array) = self { array } else { nil } }
}
