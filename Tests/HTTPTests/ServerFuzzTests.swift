import FuzzProperties
import System
import Testing

@testable import HTTP

@Suite struct ServerFuzzTests {
    @Test func `whatever is understood as a target is understood the same way twice`() {
        let seed: UInt64 = 20_260_101
        let chance = SeededChance(seed: seed)
        let alphabet = Array("/%?&=+.aZ09{}*#: \u{0}\u{7F}éabc%2F%00%C3%A4".utf8)
        var router = Router()
        router.on(.get, "/a/{b}") { _ in Response() }
        router.on(.get, "/{x}") { _ in Response() }
        var understood = 0
        for _ in 0..<50_000 {
            let length = chance.number(in: 0..<24)
            let bytes = (0..<length).map { _ in alphabet[chance.number(in: 0..<alphabet.count)] }
            guard let target = bytes.withUnsafeBytes(Target.parse) else { continue }
            understood += 1
            #expect(Target(target.raw) == target, "\(bytes), seed \(seed)")
            #expect(!target.segments.contains { $0.utf8.contains(0) }, "\(bytes), seed \(seed)")
            let path = target.segments
            let isRouted =
                path.count == 1 && path[0] != ""
                || path.count == 2 && path[0].lowercased() == "a" && path[1] != ""
            #expect(
                target.isAsterisk || router.finds(Request(.get, target)) == isRouted,
                "\(bytes)"
            )
        }
        #expect(understood > 200, "seed \(seed)")
    }

    @Test func `a head is refused or means one thing, whatever it holds`() {
        let property = RequestReading()
        let heads = [
            "GET /object/item/1?a=b\nHost: x\nContent-Length: 5",
            "PUT /7/n\nHost: x\nTransfer-Encoding: chunked",
            "POST http://x/x/a%2Fb/c\nHost: x\nExpect: 100-continue\nContent-Length: 70",
            "OPTIONS *\nHost: [::1]:80",
            "GET /a/1/b/2/\nHost: x\nX: y\nContent-Length: 0",
        ]
        for seed in UInt64(0)..<20_000 {
            let chance = SeededChance(seed: seed)
            var bytes = Array(heads[chance.number(in: 0..<heads.count)].utf8)
            for _ in 0..<chance.number(in: 0..<4) {
                let other = Array(heads[chance.number(in: 0..<heads.count)].utf8)
                let place = chance.number(in: 0..<bytes.count)
                switch chance.number(in: 0..<4) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
                case 1: bytes.insert(contentsOf: other.suffix(chance.number(in: 0..<20)), at: place)
                case 2: bytes.removeLast(min(bytes.count - 1, chance.number(in: 0..<6)))
                default: bytes.insert(UInt8(ascii: "%"), at: place)
                }
            }
            #expect(property.violation(by: bytes) == nil, "seed \(seed)")
        }
    }
}
