import System

/// JSON as nobody would write it by hand: odd white space, every escape, numbers of any length,
/// names that repeat.
struct RandomText {
    let chance: SeededChance
    private(set) var text = ""

    static func bytes(seed: UInt64) -> [UInt8] {
        var random = RandomText(chance: SeededChance(seed: seed))
        random.space()
        random.value(depth: 0)
        random.space()
        return Array(random.text.utf8)
    }

    private init(chance: SeededChance) {
        self.chance = chance
    }

    private func below(_ count: Int) -> Int { chance.number(in: 0..<count) }

    private mutating func add(oneOf texts: [String]) { text += texts[below(texts.count)] }

    private mutating func space() {
        add(oneOf: ["", "", "", " ", "\n", "\t ", "\r\n    "])
    }

    private mutating func value(depth: Int) {
        switch below(depth > 5 ? 6 : 10) {
        case 0: add(oneOf: ["null", "true", "false"])
        case 1, 2: number()
        case 3, 4, 5: string()
        case 6, 7: list("[", "]", depth) { $0.value(depth: depth + 1) }
        default: list("{", "}", depth) { $0.member(depth: depth + 1) }
        }
    }

    private mutating func list(
        _ open: String,
        _ close: String,
        _ depth: Int,
        _ entry: (inout Self) -> Void
    ) {
        text += open
        space()
        for index in 0..<below(6) {
            if index > 0 {
                text += ","
                space()
            }
            entry(&self)
            space()
        }
        text += close
    }

    private mutating func member(depth: Int) {
        if below(2) == 0 {
            add(oneOf: [#""id""#, #""a""#, #""""#, #""revisionDate""#, #""\u0061""#, #""é""#])
        } else {
            string()
        }
        space()
        text += ":"
        space()
        value(depth: depth)
    }

    private mutating func number() {
        add(oneOf: ["", "-"])
        add(oneOf: ["0", "7", "12", "4503599627370497", "9223372036854775808"])
        add(oneOf: ["", "", ".0", ".5", ".1000000000000000055511151231257827"])
        add(oneOf: ["", "", "e2", "E-3", "e+10", "E020"])
    }

    private mutating func string() {
        text += "\""
        for _ in 0..<below(8) {
            add(oneOf: Self.pieces)
        }
        text += "\""
    }

    private static let pieces = [
        "a", "2.vN1XpQMY9UPOe8MBlIW4Lg==|rZyrlwcX", "ü", "漢", "😀", "\u{2028}", "e\u{301}", "\u{7f}",
        #"\""#, #"\\"#, #"\/"#, #"\b"#, #"\f"#, #"\n"#, #"\r"#, #"\t"#, #"\u0000"#, #"\u001F"#,
        #"\u00e9"#, #"\u20AC"#, #"\uD83D\ude00"#, #"\uFFFF"#, #"\\\\"#, #"\u002B"#, "{}[],:", "/",
    ]
}
