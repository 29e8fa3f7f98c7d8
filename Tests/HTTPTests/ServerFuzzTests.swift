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
        router.on(.get, "/{x...}") { _ in Response() }
        var understood = 0
        for _ in 0..<50_000 {
            let length = chance.number(in: 0..<24)
            let bytes = (0..<length).map { _ in alphabet[chance.number(in: 0..<alphabet.count)] }
            guard let target = bytes.withUnsafeBytes(Target.parse) else { continue }
            understood += 1
            #expect(Target(target.raw) == target, "\(bytes), seed \(seed)")
            #expect(!target.segments.contains { $0.utf8.contains(0) }, "\(bytes), seed \(seed)")
            let request = Request(.get, target)
            #expect(
                target.isAsterisk || target.segments.isEmpty != router.finds(request),
                "\(bytes)"
            )
        }
        #expect(understood > 200, "seed \(seed)")
    }
}
