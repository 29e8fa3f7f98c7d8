import JSON
import Testing

/// The corners of RFC 8259, one by one.
struct GrammarTests {
    @Test(arguments: [
        "null", "true", "false", " 1 ", "\t\r\n[]\n", "{}", "[ ]", "{ }", "[[[]]]", #"{"":""}"#,
        "0", "-0", "0.0", "-0.0e-0", "1E5", "1e+5", "1e05", "123456789012345678901234567890",
        "1e400", "-1e-400", "0.1e1", "10", #""""#, #""a""#, "\"\u{7f}\"", "\"\u{2028}\"",
        #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\uD834\uDD1E""#, #""\ud834\udd1e""#, #""\\u""#,
        "[1,2,3]", "[1 , 2 ]", #"{"a":1,"a":2}"#, #"{"a" : [ {} , null ] }"#, "\"漢😀\"",
        #"["\\"]"#, #"["\\\""]"#, #"[" [ { , : } ] "]"#, "\"\u{10FFFF}\"", "[\"\",\"\"]",
    ])
    func `is read`(_ text: String) throws {
        let document = try JSON.Document(Array(text.utf8))

        #expect(document.bytes == Array(text.utf8))
        let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
        #expect(document.root.raw.bytes.elementsEqual(String(trimmed).utf8))
    }

    @Test(
        arguments: [
            ("[[[[[[", .ended, 6), (#"{"a":{"a":{"a":"#, .ended, 15),
            ("", .empty, 0), (" \n", .empty, 2), ("[", .ended, 1), ("[1", .ended, 2),
            ("[1,", .ended, 3), ("{", .ended, 1), (#"{"a""#, .ended, 4), (#"{"a":"#, .ended, 5),
            (#"{"a":1"#, .ended, 6), (#"{"a":1,"#, .ended, 7), ("]", .noValue, 0),
            ("}", .noValue, 0),
            (",", .noValue, 0), (":", .noValue, 0), ("[,1]", .noValue, 1), ("[1,]", .noValue, 3),
            ("[1,,2]", .noValue, 3), ("[1 2]", .noComma, 3), ("[1}", .noComma, 2),
            (#"["a""b"]"#, .noComma, 4), (#"["a"b]"#, .noComma, 4), (#"{"a":1]"#, .noComma, 6),
            (#"{"a" 1}"#, .noColon, 5), (#"{"a","b"}"#, .noColon, 4), ("{1:2}", .noName, 1),
            ("{a:1}", .noName, 1), (#"{"a":1,}"#, .noName, 7), (#"{,}"#, .noName, 1),
            ("{null:1}", .noName, 1), ("1 2", .trailing, 2), ("[]]", .trailing, 2),
            ("{}x", .trailing, 2), ("nullnull", .noValue, 0), ("null null", .trailing, 5),
            ("nul", .noValue, 0), ("True", .noValue, 0), ("falsey", .noValue, 0),
            ("'a'", .noValue, 0),
            ("NaN", .noValue, 0), ("Infinity", .noValue, 0), ("-Infinity", .badNumber, 1),
            ("+1", .noValue, 0), (".5", .noValue, 0), ("-", .badNumber, 1), ("--1", .badNumber, 1),
            ("01", .badNumber, 1), ("-01", .badNumber, 2), ("1.", .badNumber, 2),
            ("1.e1", .badNumber, 2),
            ("1e", .badNumber, 2), ("1e+", .badNumber, 3), ("0x10", .badNumber, 1),
            ("1a", .badNumber, 1),
            ("1_000", .badNumber, 1), (#"1"a""#, .badNumber, 1), (#"[1"a"]"#, .badNumber, 2),
            ("[1/2]", .badNumber, 2), ("// c\n1", .noValue, 0), ("[1 /* c */]", .noComma, 3),
            (#""\x""#, .badEscape, 1), (#""a\u12""#, .badEscape, 2), (#""\u12G4""#, .badEscape, 1),
            (#""\U0041""#, .badEscape, 1), (#""\ud800""#, .badEscape, 1),
            (#""\udc00""#, .badEscape, 1), (#""\ud800\u0041""#, .badEscape, 1),
            (#""\ud800\ud800""#, .badEscape, 1), (#""\ud800x""#, .badEscape, 1),
            (#"["\n","\q"]"#, .badEscape, 7), (#"{"\q":1}"#, .badEscape, 2),
            (#""a"#, .unclosedString, 0), (#"["a","b]"#, .unclosedString, 5),
            (#""a\""#, .unclosedString, 0), ("\"a\nb\"", .controlCharacter, 2),
            ("\"\u{0}\"", .controlCharacter, 1), ("[\"\\\t\"]", .controlCharacter, 3),
            ("\u{FEFF}[]", .byteOrderMark, 0), ("\u{A0}1", .noValue, 0), ("\u{0B}1", .noValue, 0),
            ("\\", .noValue, 0), ("[\\\"a\"]", .unclosedString, 4), ("\u{0}", .noValue, 0),
            ("1\u{0}", .badNumber, 1), ("[1]\u{0}", .trailing, 3),
        ] as [(String, JSON.Reason, Int)]
    )
    func `is refused`(_ text: String, _ reason: JSON.Reason, _ offset: Int) {
        let error = #expect(throws: JSON.Failure.self) { try JSON.Document(Array(text.utf8)) }

        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC0, 0xAF, 0x22], 1), ([0x22, 0xE2, 0x82, 0x22], 1),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
            ([0x5B, 0x31, 0x5D, 0x80], 3), ([0xFF, 0xFE, 0x31, 0x00], 0),
            ([0x22, 0x61, 0xC3, 0x22], 2),
            ([0x22, 0x80, 0x22], 1), ([0x22, 0xF0, 0x9F, 0x98, 0x22], 1),
        ] as [([UInt8], Int)]
    )
    func `what is not UTF-8 is refused`(_ bytes: [UInt8], _ offset: Int) {
        let error = #expect(throws: JSON.Failure.self) { try JSON.Document(bytes) }

        #expect(error == JSON.Failure(reason: .notUTF8, offset: offset))
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `nesting ends at the limit`(_ open: String, _ close: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            let opened = String(repeating: open, count: depth)
            return Array((opened + "1" + String(repeating: close, count: depth)).utf8)
        }
        let limit = JSON.Document.depthLimit
        _ = try JSON.Document(nested(limit))
        let offset = limit * open.utf8.count

        for read in [
            { _ = try JSON.Document($0) }, { _ = try JSON.Raw($0) }, { _ = try JSON.Split($0) },
        ] as [([UInt8]) throws -> Void] {
            let error = #expect(throws: JSON.Failure.self) { try read(nested(limit + 1)) }
            #expect(error == JSON.Failure(reason: .tooDeep, offset: offset))
        }
        _ = try JSON.Document(nested(limit + 1), depthLimit: limit + 1)
    }

    @Test func `a million brackets do no harm`() {
        let error = #expect(throws: JSON.Failure.self) {
            try JSON.Document(Array(repeating: UInt8(ascii: "["), count: 1_000_000))
        }
        #expect(error?.reason == .tooDeep)
    }

    @Test(arguments: Fixtures.names)
    func `a text that stops early is refused wherever it stops`(_ name: String) throws {
        let whole = Array(try Fixtures.bytes(name).prefix(600))
        for length in 0..<whole.count {
            #expect(throws: JSON.Failure.self) { try JSON.Document(Array(whole[..<length])) }
        }
    }

    @Test func `a failure names place and rule but nothing of the text`() {
        let error = #expect(throws: JSON.Failure.self) {
            try JSON.Document(Array(#"{"password":"hunter2\q"}"#.utf8))
        }
        #expect(error?.description == "Not JSON at byte 20: no such escape.")
        let sentences = JSON.Reason.allCases.map {
            JSON.Failure(reason: $0, offset: 7).description
        }
        #expect(Set(sentences).count == JSON.Reason.allCases.count)
    }
}
