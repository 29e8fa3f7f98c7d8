import JSON
import Testing

@testable import Vault

@Suite struct ItemsHistoryTests {
    let samples: Samples

    init() throws { samples = try Samples() }

    private func login(_ password: String?, history: [(String, String?)] = []) -> String {
        let entries = history.map { entry in
            let date = entry.1.map { "\"\($0)\"" } ?? "null"
            return #"{"password":"\#(entry.0)","lastUsedDate":\#(date)}"#
        }
        let password = password.map { "\"\($0)\"" } ?? "null"
        return #"{"type":1,"name":"n","login":{"password":\#(password)},"#
            + #""passwordHistory":[\#(entries.joined(separator: ","))]}"#
    }

    private func change(_ item: Item, _ body: String) throws -> (item: Item, changes: Int) {
        let edited = try samples.edited(item, body)
        return (Item(edited.cipher, keys: samples.keys), edited.changesPassword ? 1 : 0)
    }

    private func password(_ text: String?) -> String {
        #"{"name":"n","login":{"password":\#(text.map { "\"\($0)\"" } ?? "null")}}"#
    }

    @Test func `R-081 a changed password goes to the front with its time`() throws {
        let item = try samples.item(login("a", history: [("z", "2025-01-01T00:00:00.000Z")]))
        let (after, changes) = try change(item, password("b"))
        #expect(changes == 1)
        #expect(after.passwordHistory.map(\.password) == ["a", "z"])
        #expect(after.passwordHistory.first?.lastUsedDate == "2026-01-11T07:12:44.901Z")
        #expect(after.login?.passwordRevisionDate == "2026-01-11T07:12:44.901Z")
    }

    @Test func `R-076 there and back again counts twice`() throws {
        let item = try samples.item(login("a"))
        let (b, first) = try change(item, password("b"))
        let (a, second) = try change(b, password("a"))
        #expect(first + second == 2)
        #expect(a.passwordHistory.map(\.password) == ["b", "a"])
    }

    @Test func `R-084 each of five edits leaves an entry, and a sixth drops the oldest`() throws {
        var item = try samples.item(login("p0"))
        for number in 1...6 {
            let moment = Samples.now.advanced(bySeconds: Int64(number))
            let edited = try item.edited(
                by: samples.body(password("p\(number)")),
                at: moment,
                keys: samples.keys,
                entropy: samples.entropy
            )
            item = Item(edited.cipher, keys: samples.keys)
            let expected = (0..<number).reversed().prefix(5).map { "p\($0)" }
            #expect(item.passwordHistory.map { $0.password ?? "" } == expected)
        }
    }

    @Test func `R-084, N13 who sends an old history along drops nothing that came after it`()
        throws
    {
        func body(_ password: String, seen: String?) -> String {
            let date = seen.map { #","revisionDate":"\#($0)""# } ?? ""
            return #"{"name":"n","login":{"password":"\#(password)"},"passwordHistory":[]\#(date)}"#
        }
        var item = try samples.item(login("p0"))
        for number in 1...4 {
            let edited = try item.edited(
                by: samples.body(body("p\(number)", seen: "2026-01-01T00:00:00.000Z")),
                at: Samples.now.advanced(bySeconds: Int64(number)),
                keys: samples.keys,
                entropy: samples.entropy
            )
            item = Item(edited.cipher, keys: samples.keys)
        }
        #expect(item.passwordHistory.map(\.password) == ["p3", "p2", "p1", "p0"])
        // Phones write the newest last.
        let years = (2020...2024).map { ("o\($0)", Optional("\($0)-01-01T00:00:00.000Z")) }
        let phone = try samples.item(login("p0", history: years))
        let old = years.map { #"{"password":"\#($0.0)","lastUsedDate":"\#($0.1 ?? "")"}"# }
        var edited = phone
        for password in ["p1", "p2"] {
            let body =
                #"{"name":"n","login":{"password":"\#(password)"},"#
                + #""revisionDate":"2026-01-01T00:00:00.000Z","#
                + #""passwordHistory":[\#(old.joined(separator: ","))]}"#
            edited = try change(edited, body).item
        }
        #expect(
            edited.passwordHistory.map(\.password) == ["p1", "p0", "o2022", "o2023", "o2024"]
        )
        let (cleared, _) = try change(item, body("p5", seen: nil))
        #expect(cleared.passwordHistory.map(\.password) == ["p4"])
    }

    @Test(arguments: [("a", "a", 0), ("a", nil, 1), (nil, "a", 1), (nil, nil, 0), (nil, "", 0)])
    func `R-073, R-074 only another password counts`(_ old: String?, _ new: String?, _ count: Int)
        throws
    {
        let item = try samples.item(login(old))
        let (after, changes) = try change(item, password(new))
        #expect(changes == count)
        #expect(after.passwordHistory.count == (old != nil && count == 1 ? 1 : 0))
        #expect((after.login?.passwordRevisionDate != nil) == (old != nil && count == 1))
    }

    @Test func `R-079 nothing but the login's password counts`() throws {
        let item = try samples.item(Full.login)
        let body = Samples.text(item).replacing("JBSWY3DPEHPK3PXP", with: "X").replacing(
            "9912",
            with: "1"
        )
        #expect(try change(item, body).changes == 0)
        let card = try samples.item(Full.card)
        #expect(try change(card, #"{"name":"Card","card":{"code":"1"}}"#).changes == 0)
    }

    @Test func `R-082 a hidden field that is lost leaves its name and value`() throws {
        let item = try samples.item(Full.login)
        let body = Samples.text(item)
            .replacing("9912", with: "0000").replacing("c0rrect-horse", with: "new")
            .replacing("8443", with: "1")
        let after = try change(item, body).item
        #expect(
            after.passwordHistory.map(\.password)
                == ["pin: 9912", "c0rrect-horse", "old-one", "older"]
        )
        let gone = try change(item, #"{"name":"n","fields":[]}"#).item
        #expect(gone.passwordHistory.map(\.password) == ["pin: 9912", "old-one", "older"])
        #expect(gone.login?.passwordRevisionDate == "2025-05-06T07:08:09.010Z")
    }

    /// Upstream takes 3,695 bytes there, and as much in each field.
    @Test(arguments: [(600, 3_600, 93), (600, 3_695, 0), (3, 3_690, 3), (95, 3_600, 93)])
    func
        `R-082 of a long hidden field that is lost the value is kept, and as much of its name as has room`(
            _ name: Int,
            _ value: Int,
            _ kept: Int
        ) throws
    {
        let (name, value) = (
            String(repeating: "n", count: name), String(repeating: "v", count: value)
        )
        let item = try samples.item(
            #"{"type":1,"name":"n","fields":[{"name":"\#(name)","value":"\#(value)","type":1}]}"#
        )
        let gone = try change(item, #"{"name":"n","fields":[]}"#).item
        let entry = kept == 0 ? value : "\(name.prefix(kept)): \(value)"
        #expect(gone.passwordHistory.map(\.password) == [entry])
    }

    @Test(arguments: [4, 5, 9])
    func `a changed password is kept however many hidden fields are lost`(_ count: Int) throws {
        let fields = (1...count).map { #"{"name":"f\#($0)","value":"v\#($0)","type":1}"# }
        let item = try samples.item(
            #"{"type":1,"name":"n","login":{"password":"a"},"#
                + #""passwordHistory":[{"password":"z","lastUsedDate":null}],"#
                + #""fields":[\#(fields.joined(separator: ","))]}"#
        )
        let body = #"{"name":"n","login":{"password":"b"},"fields":[]}"#
        let after = try change(item, body).item.passwordHistory.map { $0.password ?? "" }
        let lost = (1...count).reversed().prefix(4).map { "f\($0): v\($0)" }
        #expect(after == lost + ["a"])
    }

    /// Other clients put the newest first or last; what is oldest is for the dates to say.
    @Test(arguments: [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 1, 5, 2, 4]])
    func `R-083, T-53 what exceeds five is dropped oldest first`(_ days: [Int]) throws {
        let history = days.map { ("p\($0)", String?.some("2025-01-0\($0)T00:00:00.000Z")) }
        let item = try samples.item(login("a", history: history))
        let after = try change(item, password("b")).item
        let kept = days.filter { $0 != 1 }.map { "p\($0)" }
        #expect(after.passwordHistory.map { $0.password ?? "" } == ["a"] + kept)
    }

    @Test func `T-53 an entry without a date is the oldest`() throws {
        let history = (1...5).map { ("p\($0)", String?.some("2025-01-0\($0)T00:00:00.000Z")) }
        let item = try undated(samples.item(login("a", history: history)), at: 2)
        let after = try change(item, password("b")).item
        #expect(after.passwordHistory.map { $0.password ?? "" } == ["a", "p1", "p2", "p4", "p5"])
    }

    @Test func `an old password that is sent without a date gets that of the edit`() throws {
        let now = "2026-01-11T07:12:44.901Z"
        let made = try samples.item(login("a", history: [("z", nil)]))
        #expect(made.passwordHistory.map(\.lastUsedDate) == [now])
        let item = try undated(made, at: 0)
        #expect(try change(item, Samples.text(item)).item.cipher == item.cipher)
        let after = try change(item, login("a", history: [("y", nil), ("z", nil)])).item
        #expect(after.passwordHistory.map(\.password) == ["y", "z"])
        #expect(after.passwordHistory.map(\.lastUsedDate) == [now, nil])
    }

    /// The same with an entry that upstream has without a date.
    private func undated(_ item: Item, at place: Int) throws -> Item {
        var edit = JSON.Edit(item.cipher.document)
        try edit.set(["passwordHistory", .element(place), "lastUsedDate"], to: .null)
        return Item(Cipher(edit), keys: samples.keys)
    }

    @Test func `R-086 a list that is longer than usual stays so if it is sent back as it was read`()
        throws
    {
        let history = (1...7).map { ("p\($0)", "2025-01-0\($0)T00:00:00.000Z" as String?) }
        let item = try samples.item(login("p", history: history))
        #expect(item.passwordHistory.count == 7)
        let stamp = try #require(item.cipher.revisionDate)
        let body = login("p", history: history).dropLast() + #","revisionDate":"\#(stamp)"}"#
        let (after, changes) = try change(item, String(body))
        #expect(changes == 0)
        #expect(after.cipher == item.cipher)
    }

    /// A device whose clock is ahead, and a server that writes more digits than clients see.
    @Test
    func `R-086, T-54 what is sent back as it was read is not doubled, however late its date`()
        throws
    {
        let shown: [(String, String?)] = [
            ("a", "2027-01-01T00:00:00.123Z"), ("b", "2027-01-01T00:00:00.000Z"),
        ]
        let stored = String(
            decoding: try samples.cipher(login("p", history: shown)).bytes,
            as: UTF8.self
        )
        .replacing("00.123Z", with: "00.123456Z").replacing("00.000Z", with: "00Z")
        var item = Item(try Cipher(Array(stored.utf8)), keys: samples.keys)
        let stamp = try #require(item.cipher.revisionDate)
        for _ in 0..<3 {
            let body = login("p", history: shown).dropLast() + #","revisionDate":"\#(stamp)"}"#
            item = try change(item, String(body)).item
        }
        #expect(item.passwordHistory.map(\.password) == ["a", "b"])
    }

    /// Two callers have the same copy, and upstream's clock is ahead of the one that dates the entries.
    @Test func `N13 who sends back what they read before another edit drops nothing of that`()
        throws
    {
        let first = try samples.item(login("p0"))
        let seen = "2030-01-01T00:00:00.000Z"
        func body(_ password: String) -> String {
            String(login(password).dropLast()) + #","revisionDate":"\#(seen)"}"#
        }
        func stamped(_ item: Item, _ date: String) throws -> Item {
            var edit = JSON.Edit(item.cipher.document)
            edit.put(JSON.Raw(date), at: "revisionDate")
            return Item(Cipher(edit), keys: samples.keys)
        }
        let base = try stamped(first, seen)
        let one = try change(base, body("p1")).item
        // It waits, under the stamp of what it was made on.
        let waiting = try one.edited(
            by: samples.body(body("p2")),
            over: base,
            at: Samples.now,
            keys: samples.keys,
            entropy: samples.entropy
        )
        let after = Item(waiting.cipher, keys: samples.keys)
        #expect(after.passwordHistory.map(\.password) == ["p1", "p0"])
        // It is upstream, under a later one.
        let saved = try stamped(one, "2030-01-01T00:00:05.000Z")
        #expect(try change(saved, body("p2")).item.passwordHistory.map(\.password) == ["p1", "p0"])
    }

    @Test func `R-086 entries stay as they are while no password changes`() throws {
        let history = (1...9).map { ("p\($0)", String?.some("2025-01-0\($0)T00:00:00.000Z")) }
        let item = try samples.item(login("a", history: history))
        let after = try change(item, #"{"name":"other"}"#).item
        #expect(after.passwordHistory.map { $0.password ?? "" } == history.map(\.0))
    }

    /// Other clients break over an entry whose password is no text.
    @Test(arguments: ["null", "5", "true", "{}", "\"\"", nil])
    func `an entry without a password is neither shown nor written again`(_ bad: String?) throws {
        let cipher = try samples.cipher(login("a", history: [("y", nil), ("z", nil)]))
        let void = bad.map { #"{"password":\#($0),"lastUsedDate":null}"# } ?? "{}"
        let text = String(decoding: cipher.bytes, as: UTF8.self)
            .replacing(#""passwordHistory":["#, with: #""passwordHistory":[\#(void),"#)
        let item = Item(try Cipher(Array(text.utf8)), keys: samples.keys)
        #expect(item.flaws.isEmpty && item.passwordHistory.map(\.password) == ["y", "z"])
        let kept = try Samples.leaves(cipher.bytes).filter { $0.key.hasPrefix(".passwordHistory") }
        let backup = try item.cipher.backup(
            at: Samples.now,
            keys: samples.keys,
            entropy: samples.entropy
        )
        for after in [try samples.edited(item, #"{"name":"other"}"#).cipher, backup] {
            let history = after["passwordHistory"]?.elements ?? []
            #expect(history.count == 2 && history.allSatisfy { $0["password"]?.kind == .string })
        }
        let edited = try samples.edited(item, Samples.text(item)).cipher
        let leaves = try Samples.leaves(edited.bytes)
        #expect(leaves.filter { $0.key.hasPrefix(".passwordHistory") } == kept)
        let sent = try samples.item(
            #"{"type":1,"name":"n","passwordHistory":[{"password":null},{"password":"p"}]}"#
        )
        #expect(sent.passwordHistory.map(\.password) == ["p"])
    }

    @Test func `R-086 old entries keep their bytes`() throws {
        let item = try samples.item(Full.login)
        let before = try Samples.leaves(item.cipher.bytes)
        let edited = try samples.edited(item, password("b")).cipher
        let after = try Samples.leaves(edited.bytes)
        for index in 0..<2 {
            for name in ["password", "lastUsedDate"] {
                #expect(
                    after[".passwordHistory[\(index + 1)].\(name)"]
                        == before[".passwordHistory[\(index)].\(name)"]
                )
            }
        }
    }

    @Test func `T-55 a password that cannot be read counts as changed and is saved over`() throws {
        let item = try samples.item(login("a", history: [("z", nil)]))
        var edit = JSON.Edit(item.cipher.document)
        try edit.set(["login", "password"], to: "2.broken")
        let damaged = Item(Cipher(edit), keys: samples.keys)
        #expect(!damaged.flaws.isEmpty)
        let (after, changes) = try change(damaged, password("b"))
        #expect(changes == 1)
        #expect(after.flaws.isEmpty && after.login?.password == "b")
        #expect(after.passwordHistory.map(\.password) == ["z"])
        #expect(throws: EditRefusal.self) { try change(damaged, #"{"name":"x"}"#) }
    }
}
