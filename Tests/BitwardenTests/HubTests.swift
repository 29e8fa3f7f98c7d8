import JSON
import System
import Testing
import Vault

@testable import Bitwarden

struct HubTests {
    private struct Vector {
        let name: String
        let frames: [UInt8]
        let decoded: [JSON.Value]
    }

    private func vectors() throws -> [Vector] {
        let messages = try Sample.document("signalr.json").root["messages"]?.array
        return try #require(messages).map { vector in
            Vector(
                name: try #require(vector["name"]?.string),
                frames: Array(hex: try #require(vector["frames"]?.string)),
                decoded: Array(try #require(vector["decoded"]?.array))
            )
        }
    }

    @Test func `the recorded frames are read`() throws {
        for vector in try vectors() {
            var frames = HubFrames()
            let messages = try frames.take(vector.frames).map { try HubMessage($0) }
            #expect(messages.count == vector.decoded.count, "\(vector.name)")
            for (message, wanted) in zip(messages, vector.decoded) {
                try check(message, wanted, vector.name)
            }
        }
    }

    private func check(_ message: HubMessage, _ wanted: JSON.Value, _ name: String) throws {
        guard let type = wanted["type"]?.int else {
            #expect(message == (wanted["target"] == nil ? .ping : .other), "\(name)")
            return
        }
        guard case .event(let event) = message else {
            Issue.record("\(name) is no event.")
            return
        }
        let payload = try #require(wanted["payload"])
        let date = payload["RevisionDate"]?.string ?? payload["Date"]?.string
        #expect(event.kind.rawValue == type, "\(name)")
        #expect(event.contextID == wanted["context"]?.string, "\(name)")
        #expect(event.id == payload["Id"]?.string, "\(name)")
        #expect(event.userID == payload["UserId"]?.string, "\(name)")
        #expect(event.organizationID == payload["OrganizationId"]?.string, "\(name)")
        #expect(event.collectionIDs == payload["CollectionIds"]?.array?.compactMap(\.string))
        #expect(event.date == date.flatMap { Revision($0) }?.moment, "\(name)")
    }

    @Test func `the event of a cipher is written as the server writes it, to the byte`() throws {
        let vector = try #require(try vectors().first { $0.name.hasPrefix("cipher update") })
        var frames = HubFrames()
        let message = try HubMessage(try #require(try frames.take(vector.frames).first))
        #expect(message.frame() == vector.frames)
        #expect(HubMessage.ping.frame() == [0x02, 0x91, 0x06])
    }

    @Test func `frames may come in any pieces`() throws {
        let all = try vectors().flatMap(\.frames)
        var whole = HubFrames()
        let wanted = try whole.take(all).map(Array.init)
        for size in 1...17 {
            var frames = HubFrames()
            var messages: [[UInt8]] = []
            for start in stride(from: 0, to: all.count, by: size) {
                let piece = all[start..<min(start + size, all.count)]
                messages += try frames.take(piece).map(Array.init)
            }
            #expect(messages == wanted, "in pieces of \(size)")
        }
    }

    @Test func `a length that cannot be is not believed`() {
        var frames = HubFrames()
        #expect(throws: HubFrames.Flaw.badLength) {
            try frames.take([0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        }
        var others = HubFrames()
        #expect(throws: HubFrames.Flaw.badLength) { try others.take([0xFF, 0xFF, 0xFF, 0x7F]) }
    }

    @Test(arguments: [
        MessagePack.null, .bool(true), .bool(false), .int(0), .int(127), .int(128), .int(255),
        .int(256), .int(65_535), .int(65_536), .int(4_294_967_295), .int(4_294_967_296), .int(-1),
        .int(-32), .int(-33), .int(.min), .int(.max), .double(1.5), .string(""),
        .string(String(repeating: "é", count: 20)), .string(String(repeating: "x", count: 70_000)),
        .binary([1, 2, 3]), .array(Array(repeating: .null, count: 20)),
        .map((0..<20).map { .init(.int($0), .string("v")) }),
        .timestamp(seconds: 1, nanoseconds: 999_999_999),
        .timestamp(seconds: -1, nanoseconds: 5), .other(type: 7, [9]),
    ])
    func `what was written is read again`(_ value: MessagePack) throws {
        #expect(try MessagePack(value.bytes()[...]) == value)
        #expect(try MessagePack(value.bytes(.shortest)[...]) == value)
        #expect(throws: MessagePack.Flaw.self) { try MessagePack(value.bytes().dropLast()) }
        #expect(throws: MessagePack.Flaw.trailing) { try MessagePack((value.bytes() + [0])[...]) }
    }

    @Test func `nothing that arrives brings the reader down`() {
        let seed: UInt64 = 17
        let chance = SeededChance(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            let count = chance.number(in: 0..<24)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            if (try? MessagePack(bytes[...])) == nil { refused += 1 } else { read += 1 }
        }
        #expect(read > 0 && refused > read, "seed \(seed): \(read) read, \(refused) refused")
        let deep = [UInt8](repeating: 0x91, count: 10_000)
        #expect(throws: MessagePack.Flaw.tooDeep) { try MessagePack(deep[...]) }
        #expect(throws: MessagePack.Flaw.ended) { try MessagePack([0xDD, 255, 255, 255, 255]) }
    }
}
