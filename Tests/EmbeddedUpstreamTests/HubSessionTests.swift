import Bitwarden
import Testing
import Vault

@testable import EmbeddedUpstream

/// A connection to the hub that stands, without a socket.
struct HubSessionTests {
    private let session = Session(
        userID: "u",
        deviceID: "d",
        clientID: "cli",
        stamp: "s",
        expires: Moment(ticks: 0)
    )

    /// A frame as a client sends it.
    private static func masked(
        _ first: UInt8,
        _ bytes: [UInt8],
        mask: [UInt8] = [1, 2, 3, 4]
    ) -> [UInt8] {
        let length: [UInt8] =
            bytes.count < 126
            ? [UInt8(bytes.count)] : [126, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        return [first, length[0] | 0x80] + length.dropFirst() + mask
            + bytes.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    private func open(_ personality: Personality, shakesHands: Bool = true) -> HubSession {
        var hub = HubSession(personality.hub, session)
        if shakesHands { _ = hub.received(Self.masked(0x81, HubHandshake.request)) }
        return hub
    }

    @Test func `the answer to a key is that of the standard`() {
        let answer = WebSocketGreeting.answer(toKey: "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(answer == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `one server tells before the handshake, the other waits for it`() {
        var lax = open(.vaultwarden, shakesHands: false)
        #expect(lax.told([1], .whole) == [.send([0x82, 1, 1])])
        var strict = open(.bitwarden, shakesHands: false)
        #expect(strict.told([1], .whole).isEmpty)
        var shaken = open(.bitwarden)
        #expect(shaken.told([1], .whole) == [.send([0x82, 1, 1])])
    }

    @Test func `signs of life are pings of the one kind or the other`() {
        var lax = open(.vaultwarden)
        #expect(lax.signOfLife(isHeartbeat: true) == [.send([0x89, 3, 2, 0x91, 6])])
        var strict = open(.bitwarden)
        #expect(strict.signOfLife(isHeartbeat: false) == [.send([0x82, 3, 2, 0x91, 6])])
        #expect(strict.signOfLife(isHeartbeat: true).count == 2)
    }

    @Test func `what is binary comes back from the one server only`() {
        var lax = open(.vaultwarden)
        #expect(lax.received(Self.masked(0x82, [2, 0x91, 6])) == [.send([0x82, 3, 2, 0x91, 6])])
        var strict = open(.bitwarden)
        #expect(strict.received(Self.masked(0x82, [2, 0x91, 6])).isEmpty)
    }

    @Test func `pings are answered, and a goodbye is the end`() {
        var hub = open(.bitwarden)
        #expect(hub.received(Self.masked(0x89, [7])) == [.send([0x8A, 1, 7])])
        #expect(
            hub.received(Self.masked(0x88, [3, 0xE8])) == [.send([0x88, 2, 3, 0xE8]), .close]
        )
        #expect(hub.told([1], .whole).isEmpty)
    }

    @Test func `a message in several frames is put together`() {
        var hub = open(.vaultwarden)
        #expect(hub.received(Self.masked(0x02, [1])).isEmpty)
        #expect(hub.received(Self.masked(0x89, [])) == [.send([0x8A, 0])])
        #expect(hub.received(Self.masked(0x80, [2])) == [.send([0x82, 2, 1, 2])])
    }

    @Test(arguments: [
        [0x82, 0x01, 0x00], [0x83, 0x80, 0, 0, 0, 0], [0xC2, 0x80, 0, 0, 0, 0],
        [0x80, 0x80, 0, 0, 0, 0], [0x09, 0x80, 0, 0, 0, 0],
        [0x82, 0xFF, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],
    ])
    func `frames that no client may send end the connection`(_ bytes: [UInt8]) {
        var hub = open(.vaultwarden)
        #expect(hub.received(bytes).last == .close)
    }

    @Test func `long messages are framed with their length`() {
        #expect(
            WebSocketFrames.frame(.binary, [UInt8](repeating: 0, count: 126))[1...3] == [
                126, 0, 126,
            ]
        )
        let long = WebSocketFrames.frame(.binary, [UInt8](repeating: 0, count: 65_536))
        #expect(long[1...9] == [127, 0, 0, 0, 0, 0, 1, 0, 0])
    }
}
