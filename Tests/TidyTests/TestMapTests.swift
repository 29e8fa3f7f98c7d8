import FoundationEssentials
import Simulation
import Testing

/// Which test shows which row of the test map, which trap and which gap. The names of the tests say it;
/// `Docs/TESTS.md` is printed from them.
@Suite struct TestMapTests {
    /// What no test is named after, and why.
    static let absent: [String: String] = [
        "G-SEC2": "won't be done: whoever has the file learns when something was edited, not what",
        "G-SEND": "Sends need the server",
    ]

    static let numbers: [String] =
        (1...121).map { "row \($0)" }
        + (1...74).map { "T-" + ($0 < 10 ? "0\($0)" : "\($0)") }
        + [
            "A4", "AGE", "ATT", "BATCH", "CLOCK", "CORR", "CS2", "DELAY", "DI1", "ORG", "P2T3",
            "PCDS1", "PCDS2", "PCDSV", "PLAN1", "R1", "R3", "R4", "RES1", "RES7", "RES9", "S7",
            "S8", "SEC2", "SEND", "SS1", "SS2", "TESTS", "U1", "U2", "U3", "U4", "VI1", "VR2",
            "VR3", "VR4", "VR6",
        ].map { "G-" + $0 }

    private struct Named {
        let file: String
        let name: String
    }

    private static func tests() throws -> [Named] {
        try SourceTree(below: "Tests", endings: [".swift"]).files.flatMap { file in
            file.text.matches(of: /func\s+`([^`]+)`/).map {
                Named(file: file.path, name: String($0.output.1))
            }
        }
    }

    /// The numbers that a name mentions: `rows 46 to 49, T-08 and G-S7`.
    static func numbers(in name: String) -> Set<String> {
        var found: Set<String> = []
        for match in name.matches(of: /\b([TG])-([A-Z0-9]+)\b/) {
            found.insert("\(match.output.1)-\(match.output.2)")
        }
        for match in name.matches(of: /\brows? ((?:\d+(?: to |, | and )?)+)/) {
            found.formUnion(rows(in: match.output.1))
        }
        return found
    }

    private static func rows(in list: Substring) -> Set<String> {
        var rows: Set<String> = []
        for part in list.split(separator: #/, | and /#) {
            let ends = part.split(separator: " to ").compactMap { Int($0.filter(\.isNumber)) }
            guard let first = ends.first, let last = ends.last, first <= last else { continue }
            for row in first...last { rows.insert("row \(row)") }
        }
        return rows
    }

    static func page() throws -> String {
        var shown: [String: [Named]] = [:]
        for test in try tests() {
            for number in numbers(in: test.name) { shown[number, default: []].append(test) }
        }
        var lines = [
            "# What the tests show", "",
            "Printed from the names of the tests. The numbers are those of the catalogue by which the program was",
            "built: rows of its test map, T for traps, G for gaps. What a test shows, its name says without them.",
            "",
            "Other marks in names: I for what must always hold, as listed at the end; P for how other programs have",
            "failed; A6 for what none of them does; F for faults.",
            "", "| number | shown by |", "| --- | --- |",
        ]
        for number in numbers {
            let tests = (shown[number] ?? []).map { test in
                let file = test.file.split(separator: "/").last ?? ""
                return "\(test.name) (`\(file.dropLast(6))`)"
            }
            let text =
                tests.isEmpty
                ? absent[number] ?? "**no test of its own**" : tests.joined(separator: "; ")
            lines.append("| \(number) | \(text) |")
        }
        lines += [
            "", "## What must always hold", "",
            "`holdfast simulate` names these where a world breaks one.", "",
            "| mark | what must hold |", "| --- | --- |",
        ]
        lines += Invariant.allCases.map { "| \($0.rawValue) | \($0.sentence) |" }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func `numbers are read from a test's name`() {
        #expect(
            Self.numbers(in: "rows 46 to 48, 50 and T-08: counts")
                == ["row 46", "row 47", "row 48", "row 50", "T-08"]
        )
        #expect(Self.numbers(in: "G-RES1 nothing twice") == ["G-RES1"])
    }

    /// `HOLDFAST_WRITE_DOCS=1 swift test --filter TestMapTests` prints it anew.
    @Test func `the page of what is shown is the one that the names give`() throws {
        let page = try Self.page()
        let path = "\(SourceTree.root)/Docs/TESTS.md"
        if ProcessInfo.processInfo.environment["HOLDFAST_WRITE_DOCS"] == "1" {
            try page.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try SourceTree.read("Docs/TESTS.md") == page)
    }
}
