/// One message of the hub.
public enum HubMessage: Sendable, Hashable {
    /// Something has happened on the server.
    case event(HubEvent)
    /// The other end is there.
    case ping
    case close(error: String?, mayReconnect: Bool)
    /// Of a type or for a target that nobody here knows; passed over.
    case other

    public init(_ message: ArraySlice<UInt8>) throws(MessagePack.Flaw) {
        self = Self(try MessagePack(message))
    }

    private init(_ value: MessagePack) {
        guard let parts = value.array, let type = parts.first?.int else {
            self = .other
            return
        }
        switch type {
        case 1 where parts.count >= 5 && parts[3].string == "ReceiveMessage":
            self = parts[4].array?.first.flatMap(HubEvent.init).map(Self.event) ?? .other
        case 6: self = .ping
        case 7:
            let mayReconnect = parts.count > 2 && parts[2] == .bool(true)
            self = .close(error: parts.dropFirst().first?.string, mayReconnect: mayReconnect)
        default: self = .other
        }
    }

    /// With its length before it, as it goes out.
    public func frame(_ form: MessagePack.TimestampForm = .eight) -> [UInt8] {
        HubFrames.frame(value.bytes(form))
    }

    /// What a server sends now and then to show that it is there.
    public static let heartbeat = HubFrames.frame(invocation("Heartbeat", []).bytes())

    private var value: MessagePack {
        switch self {
        case .event(let event): Self.invocation("ReceiveMessage", [event.value])
        case .ping: .array([.int(6)])
        case .close(let error, let mayReconnect):
            .array([.int(7), error.map(MessagePack.string) ?? .null, .bool(mayReconnect)])
        case .other: .array([.int(6)])
        }
    }

    private static func invocation(_ target: String, _ arguments: [MessagePack]) -> MessagePack {
        .array([.int(1), .map([]), .null, .string(target), .array(arguments)])
    }
}
