/// The frames of a WebSocket, seen from a server.
struct WebSocketFrames {
    enum Kind: UInt8 {
        case more = 0
        case text = 1
        case binary = 2
        case goodbye = 8
        case ping = 9
        case pong = 10
    }

    struct Message: Equatable {
        let kind: Kind
        let bytes: [UInt8]
    }

    /// What a client must not send.
    struct Flaw: Error, Equatable {}

    /// No client has more to say.
    static let limit = 65_536

    private var rest: [UInt8] = []
    private var begun: Message?

    /// The messages that are whole by now, those of several frames put together.
    mutating func take(_ bytes: some Collection<UInt8>) throws(Flaw) -> [Message] {
        rest += bytes
        var messages: [Message] = []
        while let frame = try nextFrame() {
            if let message = try join(frame) { messages.append(message) }
        }
        return messages
    }

    private struct Frame {
        let kind: Kind
        let isLast: Bool
        let bytes: [UInt8]
    }

    private mutating func nextFrame() throws(Flaw) -> Frame? {
        guard rest.count >= 2 else { return nil }
        // Clients mask all they send; what is reserved is zero.
        guard rest[0] & 0x70 == 0, rest[1] & 0x80 != 0, let kind = Kind(rawValue: rest[0] & 0x0F)
        else { throw Flaw() }
        let (lengthBytes, short) = (Self.lengthBytes(rest[1]), Int(rest[1] & 0x7F))
        let start = 2 + lengthBytes + 4
        guard rest.count >= start else { return nil }
        let length =
            lengthBytes == 0
            ? short : rest[2..<2 + lengthBytes].reduce(0) { $0 << 8 | UInt64($1) }.clamped
        guard length <= Self.limit else { throw Flaw() }
        guard rest.count >= start + length else { return nil }
        let mask = Array(rest[start - 4..<start])
        let bytes = rest[start..<start + length].enumerated().map { $1 ^ mask[$0 & 3] }
        let isLast = rest[0] & 0x80 != 0
        rest.removeFirst(start + length)
        return Frame(kind: kind, isLast: isLast, bytes: bytes)
    }

    private static func lengthBytes(_ second: UInt8) -> Int {
        switch second & 0x7F {
        case 126: 2
        case 127: 8
        default: 0
        }
    }

    private mutating func join(_ frame: Frame) throws(Flaw) -> Message? {
        if frame.kind.rawValue >= Kind.goodbye.rawValue {
            guard frame.isLast, frame.bytes.count < 126 else { throw Flaw() }
            return Message(kind: frame.kind, bytes: frame.bytes)
        }
        guard (frame.kind == .more) == (begun != nil) else { throw Flaw() }
        let message = Message(
            kind: begun?.kind ?? frame.kind,
            bytes: (begun?.bytes ?? []) + frame.bytes
        )
        guard message.bytes.count <= Self.limit else { throw Flaw() }
        begun = frame.isLast ? nil : message
        return frame.isLast ? message : nil
    }

    /// A message in one frame, as a server sends it.
    static func frame(_ kind: Kind, _ bytes: [UInt8]) -> [UInt8] {
        var frame = [0x80 | kind.rawValue]
        switch bytes.count {
        case ..<126: frame.append(UInt8(bytes.count))
        case ..<65_536: frame += [126, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        default:
            frame.append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                frame.append(UInt8(truncatingIfNeeded: bytes.count >> shift))
            }
        }
        return frame + bytes
    }
}

extension UInt64 {
    fileprivate var clamped: Int { Int(exactly: self) ?? .max }
}
