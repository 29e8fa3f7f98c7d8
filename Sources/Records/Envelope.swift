internal import CRecords
internal import Crypto

/// What every record lies in: who wrote it, who may read it, and whether it is whole.
struct Envelope {
    /// The format that this build writes.
    static let format = 1
    /// The oldest build that may touch what this one writes.
    static let leastReader = 1

    let payload: [UInt8]
    /// A record that came from a newer build stays its, so that no reader takes it for an old one.
    var formatVersion = Envelope.format
    var leastReaderVersion = Envelope.leastReader
    var unknown: UnknownFields?

    static func read(_ bytes: [UInt8]) -> Reading<Envelope> {
        guard let message = holdfast__envelope__unpack(nil, bytes.count, bytes) else {
            return .damaged(.envelope)
        }
        defer { holdfast__envelope__free_unpacked(message, nil) }
        return Envelope.read(message.pointee)
    }

    private static func read(_ message: Holdfast__Envelope) -> Reading<Envelope> {
        guard
            message.has_format_version != 0, message.has_least_reader_version != 0,
            message.has_payload != 0, message.has_checksum != 0
        else { return .damaged(.envelope) }
        // Before the version: damage must not be taken for news.
        let payload = message.payload.array
        guard Digest.sha256(payload) == message.checksum.array else {
            return .damaged(.checksum)
        }
        guard message.least_reader_version <= format else {
            return .newer(leastReader: Int(message.least_reader_version))
        }
        var envelope = Envelope(payload: payload)
        envelope.formatVersion = Int(message.format_version)
        envelope.leastReaderVersion = Int(message.least_reader_version)
        do throws(Damage) {
            envelope.unknown = try UnknownFields(of: message.base)
        } catch {
            return .damaged(.envelope)
        }
        return .readable(envelope)
    }

    func encoded() -> [UInt8] {
        var arena = Arena()
        let message = arena.message(holdfast__envelope__init)
        message.pointee.has_format_version = 1
        message.pointee.format_version = UInt32(max(formatVersion, Self.format))
        message.pointee.has_least_reader_version = 1
        message.pointee.least_reader_version = UInt32(max(leastReaderVersion, Self.leastReader))
        message.pointee.has_payload = 1
        message.pointee.payload = arena.bytes(payload)
        message.pointee.has_checksum = 1
        message.pointee.checksum = arena.bytes(Digest.sha256(payload))
        unknown?.attach(to: &message.pointee.base, in: &arena)
        return packed(&message.pointee.base)
    }
}
