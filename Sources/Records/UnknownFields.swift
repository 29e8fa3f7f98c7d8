internal import CRecords

/// What a newer build wrote into a message and this one does not understand, as it came.
struct UnknownFields: Hashable, Sendable {
    struct Field: Hashable, Sendable {
        let number: UInt32
        let wireType: UInt32
        let bytes: [UInt8]
    }

    let fields: [Field]

    /// Field numbers begin at 1. The library reads a 0 without complaint, but not everything that
    /// it then writes.
    init?(of message: ProtobufCMessage) throws(Damage) {
        guard message.n_unknown_fields > 0 else { return nil }
        fields = (0..<Int(message.n_unknown_fields)).map { index in
            let field = message.unknown_fields[index]
            return Field(
                number: field.tag,
                wireType: field.wire_type.rawValue,
                bytes: Array(UnsafeBufferPointer(start: field.data, count: field.len))
            )
        }
        guard fields.allSatisfy({ $0.number > 0 }) else { throw .payload }
    }

    func attach(to message: inout ProtobufCMessage, in arena: inout Arena) {
        let copies = fields.map { field in
            let bytes = arena.bytes(field.bytes)
            return ProtobufCMessageUnknownField(
                tag: field.number,
                wire_type: ProtobufCWireType(rawValue: field.wireType),
                len: bytes.len,
                data: bytes.data
            )
        }
        message.n_unknown_fields = UInt32(copies.count)
        message.unknown_fields = arena.array(copies)
    }
}

/// Where in a record unknown fields were found, so that they find back to the same thing, and are
/// gone together with it when it is replaced.
enum Spot: Hashable, Sendable {
    case envelope
    case change
    case intent(String)
    case adjustments
    case snapshot([UInt8])
    case baseline
    case clock(Int64)
    case attempt(String, [UInt8])
    case backup(String)
    case backupSource(String)
    case failure(String)
    case forgotten
}

typealias Unknowns = [Spot: UnknownFields]

extension Unknowns {
    mutating func keep(_ message: ProtobufCMessage, at spot: @autoclosure () -> Spot) throws(Damage)
    {
        guard let fields = try UnknownFields(of: message) else { return }
        self[spot()] = fields
    }

    func attach(
        _ spot: @autoclosure () -> Spot,
        to message: inout ProtobufCMessage,
        in arena: inout Arena
    ) {
        guard !isEmpty else { return }
        self[spot()]?.attach(to: &message, in: &arena)
    }
}
