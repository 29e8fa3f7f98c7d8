import Testing

@testable import Host

/// The expressions that a login may carry in place of an address.
@Suite struct ExpressionTests {
    @Test func `an address that is longer than any is not gone through`() throws {
        let expression = try #require(Expression("a"))
        #expect(expression.matches(String(repeating: "a", count: 4_096)))
        #expect(!expression.matches(String(repeating: "a", count: 4_097)))
    }

    @Test(arguments: [
        (#"^https://([a-z0-9-]+\.)*example\.com(/|$)"#, "https://a.b-c.example.com", true),
        (#"^https://([a-z0-9-]+\.)*example\.com(/|$)"#, "https://example.com.evil.org", false),
        (#"example"#, "https://www.EXAMPLE.com/", true), (#"EXAMPLE"#, "https://example.com", true),
        (#"^a{2,3}$"#, "aaa", true), (#"^a{2,3}$"#, "aaaa", false), (#"^a{2}$"#, "aa", true),
        (#"^a{2,}$"#, "aaaaaa", true), (#"^a{,3}$"#, "a{,3}", true), (#"x{"#, "x{", true),
        (#"^(?:ab|cd)+?$"#, "abcdab", true), (#"^(?<host>ab)?$"#, "", true),
        (#"^(a|)+$"#, "aaa", true),
        (#"^(a*)*$"#, "aaab", false), (#"[^/]+/login"#, "host/login", true),
        (#"^[^a-c]$"#, "B", false),
        (#"^[\d\-x]+$"#, "12-x", true), (#"^[a\]]+$"#, "a]", true), (#"^[]$"#, "", false),
        (#"^[^]$"#, "\n", true), (#"^.$"#, "\n", false), (#"\bapp\b"#, "my app!", true),
        (#"\bapp\b"#, "apple", false), (#"\Bpp"#, "apple", true), (#"^\w+\s\S$"#, "a_1 é", true),
        (#"^\x41\u0042$"#, "ab", true), (#"^[\W]$"#, "!", true), (#"^[A-z]$"#, "_", true),
        (#"é"#, "É", true), (#"^[w-z]+\.$"#, "WXYZ.", true), (#"\/path\/"#, "/path/", true),
        ("", "anything", true), ("^$", "", true), ("$^", "", true), ("a|b|", "c", true),
        ("^(a|bc|d)$", "bc", true), ("^(a|bc|d)$", "ad", false), ("x|y|z", "-z-", true),
    ])
    func `an expression matches what a client's does`(
        _ expression: String,
        _ text: String,
        _ isMatch: Bool
    ) throws {
        #expect(try #require(Expression(expression)).matches(text) == isMatch)
    }

    @Test(arguments: [
        "(", ")", "[", "*", "a**", "a{3,2}", "[b-a]", #"(a)\1"#, "(?=a)", "(?!a)", "(?<=a)",
        "(?<!a)", "\\",
        "((((a{999}){999}){999}){999})", "((((){999}){999}){999}){999}",
        String(repeating: "(", count: 5_000), #"\u12"#,
    ])
    func `what cannot be read, or not be followed at once, is no expression`(_ text: String) {
        #expect(Expression(text) == nil)
    }

    /// Followed one way after the other, this would take longer than anybody lives.
    @Test(arguments: [
        "^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)*(.*)*(.*)*$x", "^(([a-z])+.)+[A-Z]([a-z])+$",
    ])
    func `no expression takes for ever`(_ text: String) throws {
        let expression = try #require(Expression(text))
        #expect(!expression.matches(String(repeating: "a", count: 5_000) + "!"))
    }
}
