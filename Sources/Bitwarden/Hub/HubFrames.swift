/// What two ends of the hub say to each other before anything else.
public enum HubHandshake {
    /// `{"protocol":"messagepack","version":1}` and the record separator, in a text message.
    public static let request = Array("{\"protocol\":\"messagepack\",\"version\":1}\u{1E}".utf8)
    /// `{}` and the record separator, in a text message or a binary one. Recognised by these bytes
    /// and not by being first: an event may overtake it.
    public static let answer = Array("{}\u{1E}".utf8)
    public static let end = UInt8(0x1E)
}

/// Cuts what arrives into hub messages: a length in groups of seven bits, the lowest first, then so
/// many bytes. One WebSocket message may carry several, and several may carry one.
public struct HubFrames: Sendable {
    /// Beyond that, a length is not believed.
    public static let lengthLimit = 4_194_304

    private var rest: [UInt8] = []

    public init() {}

    public enum Flaw: Error, Sendable, Hashable {
        /// A length of more than five bytes, or beyond the limit.
        case badLength
    }

    /// The messages that are whole by now.
    public mutating func take(_ bytes: some Collection<UInt8>) throws(Flaw) -> [ArraySlice<UInt8>] {
        rest += bytes
        var messages: [ArraySlice<UInt8>] = []
        var remaining = rest[...]
        while let head = try Self.length(at: remaining) {
            let body = remaining.dropFirst(head.bytes)
            guard body.count >= head.length else { break }
            messages.append(body.prefix(head.length))
            remaining = body.dropFirst(head.length)
        }
        rest = Array(remaining)
        return messages
    }

    /// A message with its length before it.
    public static func frame(_ message: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = []
        var length = message.count
        repeat {
            let group = UInt8(length & 0x7F)
            length >>= 7
            frame.append(length > 0 ? group | 0x80 : group)
        } while length > 0
        return frame + message
    }

    /// `nil` while the length itself is not whole.
    private static func length(
        at bytes: ArraySlice<UInt8>
    ) throws(Flaw) -> (length: Int, bytes: Int)? {
        var length = 0
        for (position, byte) in bytes.prefix(5).enumerated() {
            length |= Int(byte & 0x7F) << (7 * position)
            guard byte & 0x80 == 0 else { continue }
            guard length <= lengthLimit else { throw .badLength }
            return (length, position + 1)
        }
        if bytes.count >= 5 { throw .badLength }
        return nil
    }
}
