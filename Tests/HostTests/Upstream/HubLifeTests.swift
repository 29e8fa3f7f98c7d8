import Bitwarden
import System
import Testing

@testable import Host

struct HubLifeTests {
    private var life = HubLife()
    private let event = HubEvent(.cipherUpdated, userID: "me")

    private func frame(_ event: HubEvent) -> [UInt8] { HubMessage.event(event).frame() }

    @Test mutating func `the greeting is known by its bytes, and an event may overtake it`() {
        #expect(life.take(frame(event)) == [.heard(event)])
        #expect(!life.isGreeted)
        #expect(life.take(HubHandshake.answer) == [.greeted])
        #expect(life.isGreeted)
    }

    @Test mutating func `a greeting that is a refusal ends the line`() {
        #expect(life.take(Array(#"{"error":"no"}"#.utf8) + [0x1E]) == [.hangUp])
    }

    @Test mutating func `several messages in one, and one in several`() {
        _ = life.take(HubHandshake.answer)
        let bytes = frame(event) + HubMessage.ping.frame() + HubMessage.heartbeat + frame(event)
        #expect(life.take(bytes) == [.heard(event), .heard(event)])
        var heard: [HubLife.Step] = []
        for byte in bytes { heard += life.take([byte]) }
        #expect(heard == [.heard(event), .heard(event)])
    }

    @Test mutating func `after a goodbye nothing counts`() {
        _ = life.take(HubHandshake.answer)
        let goodbye = HubMessage.close(error: nil, mayReconnect: true).frame()
        #expect(life.take(goodbye + frame(event)) == [.hangUp])
    }

    @Test mutating func `what cannot be understood ends the line, and the next begins anew`() {
        _ = life.take(HubHandshake.answer)
        #expect(life.take([1, 0xC1]) == [.hangUp])
        life.begin()
        #expect(!life.isGreeted)
        #expect(life.take(HubHandshake.answer) == [.greeted])
        #expect(life.take(frame(event)) == [.heard(event)])
    }

    @Test mutating func `half a message of the old line is no part of the new one`() {
        _ = life.take(HubHandshake.answer)
        #expect(life.take(Array(frame(event).dropLast())).isEmpty)
        life.begin()
        #expect(life.take(HubHandshake.answer) == [.greeted])
        #expect(life.take(frame(event)) == [.heard(event)])
    }

    @Test mutating func `waits grow from a second to two minutes, half of each by chance`() {
        let waits = (0..<10).map { _ in life.wait(chance: 1) / .seconds(1) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 120, 120, 120])
        #expect(life.wait(chance: 0) == .seconds(60))
        _ = life.take(HubHandshake.answer)
        #expect(life.wait(chance: 1) == .seconds(1), "A line that came about ends the growth.")
    }

    @Test(arguments: 0..<200)
    mutating func `any bytes are survived`(_ seed: UInt64) {
        let chance = SeededChance(seed: seed)
        for _ in 0..<20 {
            let bytes = (0..<chance.number(in: 0..<40)).map { _ in
                UInt8(truncatingIfNeeded: chance.next())
            }
            for step in life.take(bytes) where step == .hangUp { life.begin() }
        }
        life.begin()
        #expect(life.take(HubHandshake.answer) == [.greeted], "seed \(seed)")
    }
}
