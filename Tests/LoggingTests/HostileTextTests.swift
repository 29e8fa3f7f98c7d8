import FoundationEssentials
import Logging
import Testing

struct HostileTextTests {
    private static let hostile = [
        "two\nlines\r\nthree", "\u{1B}[31mred\u{1B}[0m \u{07}", "\u{9B}2J",
        "a\u{2028}b\u{2029}c\u{85}d",
        "\u{202E}evil\u{2066}", "\u{200B}\u{FEFF}", "nul \0 end", "\u{7F}", "\"quoted\" \\ = x",
        "\",\"level\":\"info", "} {", "Größe 🔑 👩‍👩‍👧", "\u{E0041}",
        String(repeating: "\n", count: 9000),
        String(repeating: "\u{10FFFF}", count: 5000), String(repeating: "x", count: 100_000),
        "2025-11-21T10:57:07.123Z error   Forged.",
    ]

    private struct Line: Decodable {
        var time: String
        var level: String
        var message: String
        var text: String
        var truncated: Bool?
    }

    @Test(arguments: hostile)
    func `any text is one line of JSON and comes back as it was`(_ text: String) throws {
        let desk = Desk(.json)
        desk.log.info("Heard.", ["text": text])
        let line = try #require(desk.shelf.lines.first)
        let read = try JSONDecoder().decode(Line.self, from: Data(line.utf8))

        expectOneHarmlessLine(line)
        #expect(read.level == "info" && read.message == "Heard.")
        if read.truncated == true {
            #expect(read.text.hasSuffix("…") && text.hasPrefix(read.text.dropLast()))
        } else {
            #expect(read.text == text)
        }
    }

    @Test(arguments: hostile)
    func `any text is one line of text`(_ text: String) throws {
        let desk = Desk(.text)
        desk.log.info("Heard.", ["text": text])
        expectOneHarmlessLine(try #require(desk.shelf.lines.first))
    }

    @Test func `text shows what was done to it`() {
        let desk = Desk(.text)
        desk.log.info("Heard.", ["text": "a\nb\u{1B}[0m \"c\" \\ \u{202E}ß"])
        #expect(
            desk.shelf.lines == [
                #"2025-11-21T10:57:07.123Z info    Heard. text="a\nb\u{1b}[0m \"c\" \\ \u{202e}ß""#
                    + "\n"
            ]
        )
    }

    @Test(arguments: LogFormat.allCases)
    func `a line that is cut off says so and is still whole`(_ format: LogFormat) throws {
        let desk = Desk(format)
        desk.log.info("Long.", ["text": String(repeating: "y", count: 5000), "later": 1])
        let line = try #require(desk.shelf.lines.first)
        #expect(line.utf8.count > 4000 && line.utf8.count <= 4096)
        #expect(
            line.hasSuffix(format == .json ? "…\",\"truncated\":true}\n" : "y… truncated=true\n")
        )
        #expect(!line.contains("later"))
    }

    @Test(arguments: LogFormat.allCases)
    func `a line of very many fields is no longer than any other`(_ format: LogFormat) throws {
        let desk = Desk(format)
        let log = (0..<400).reduce(desk.log) { log, number in
            log.with(Self.names[number % 3], number)
        }
        for length in 3900...4100 {
            log.info(
                "Many.",
                ["text": String(repeating: "\n", count: length / 2), "number": length]
            )
        }
        #expect(desk.shelf.lines.count == 201)
        for line in desk.shelf.lines {
            expectOneHarmlessLine(line)
            if format == .json {
                #expect(throws: Never.self) {
                    try JSONDecoder().decode(Line.self, from: Data(line.utf8))
                }
            }
        }
    }

    private static let names: [StaticString] = ["a", "b", "c"]

    private func expectOneHarmlessLine(_ line: String) {
        #expect(line.utf8.count <= 4096)
        #expect(line.hasSuffix("\n"))
        let visible = line.dropLast().unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains(
                $0.properties.generalCategory
            )
        }
        #expect(visible, "\(line.debugDescription)")
    }
}
