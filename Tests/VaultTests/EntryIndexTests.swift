import JSON
import System
import Testing

@testable import Vault

@Suite struct EntryIndexTests {
    private func entry(_ password: String?, _ date: String?) -> Contents {
        var entry = Contents(.historyEntry)
        if let password { entry["password"] = .text(password) }
        if let date { entry["lastUsedDate"] = .text(date) }
        return entry
    }

    /// As one entry is compared with another, without any index.
    private func isSame(_ one: Contents, _ other: Contents) -> Bool {
        guard one["password"].text == other["password"].text else { return false }
        guard let used = one.lastUsed, let others = other.lastUsed else {
            return one["lastUsedDate"].date == other["lastUsedDate"].date
        }
        return used.isSame(as: others)
    }

    @Test func `an entry is found if any is the same, however their dates are written`() {
        let seed: UInt64 = 20_261_128
        let chance = SeededChance(seed: seed)
        let fractions = ["", ".0", ".001", ".0039", ".005", ".5", ".996", ".999", ".9999999"]
        let odd: [String?] = [nil, "", "yesterday", "2026-02-30T00:00:00Z"]
        func any() -> Contents {
            let date = "2026-01-05T08:12:4\(chance.number(in: 0..<4))"
            let dates = fractions.map { Optional(date + $0 + "Z") } + odd
            let password = [nil, "", "a", "b"][chance.number(in: 0..<4)]
            return entry(password, dates[chance.number(in: 0..<dates.count)])
        }
        var found = 0
        for _ in 0..<3_000 {
            let entries = (0..<chance.number(in: 0..<12)).map { _ in any() }
            let (index, wanted) = (EntryIndex(entries), any())
            let isThere = entries.contains { isSame(wanted, $0) }
            if isThere { found += 1 }
            #expect(index.contains(wanted) == isThere, "\(wanted) in \(entries), seed \(seed)")
        }
        #expect((300..<2_700).contains(found), "seed \(seed)")
    }

    /// It took the square of that, 12 s and more, and everybody else waited.
    @Test(.timeLimit(.minutes(1)))
    func `thousands of entries hold nobody up`() throws {
        let samples = try Samples()
        let entries = (0..<5_000).map { number in
            let time = "\(10 + number / 3_600 % 10):\(10 + number / 60 % 50):\(10 + number % 50)"
            return #"{"password":"p\#(number)","lastUsedDate":"2025-01-01T\#(time).000Z"}"#
        }
        let old = entries.joined(separator: ",")
        let item = try samples.item(
            #"{"type":1,"name":"n","login":{"password":"a"},"passwordHistory":[\#(old)]}"#
        )
        let others = old.replacing(":\"p", with: ":\"q")
        let edited = try samples.edited(
            item,
            """
            {"type":1,"name":"n","login":{"password":"b"},"passwordHistory":[\(others)],\
            "revisionDate":"2024-01-01T00:00:00.000Z"}
            """
        )
        let after = Item(edited.cipher, keys: samples.keys)
        #expect(after.passwordHistory.count == 5 && after.passwordHistory[0].password == "a")
    }
}
