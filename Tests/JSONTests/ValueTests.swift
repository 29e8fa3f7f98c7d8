import JSON
import Testing

struct ValueTests {
    private func root(_ text: String) throws -> JSON.Value {
        try JSON.Document(Array(text.utf8)).root
    }

    @Test func `members and elements are found and say what they are`() throws {
        let root = try root(#"{"a":[true, null, -12, 2.5e1, "x\ny"], "b":{"c":false}}"#)
        let a = try #require(root["a"])

        #expect(a[0]?.bool == true)
        #expect(a[1]?.isNull == true)
        #expect(a[2]?.int == -12)
        #expect(a[3]?.double == 25)
        #expect(a[4]?.string == "x\ny")
        #expect(a[5] == nil)
        #expect(a[-1] == nil)
        #expect(root["b"]?["c"]?.bool == false)
        #expect(root["c"] == nil)
        #expect(a["a"] == nil)
        #expect(root[0] == nil)
        #expect(root["a"]?.array?.map(\.kind) == [.bool, .null, .number, .number, .string])
        #expect(root.object?.map(\.name.string) == ["a", "b"])
    }

    @Test func `a value of another kind is nothing`() throws {
        for text in ["null", "true", "1", #""1""#, "[]", "{}"] {
            let value = try root(text)
            #expect((value.string != nil) == (value.kind == .string))
            #expect((value.int != nil) == (value.kind == .number))
            #expect((value.double != nil) == (value.kind == .number))
            #expect((value.bool != nil) == (value.kind == .bool))
            #expect(value.isNull == (value.kind == .null))
            #expect((value.array != nil) == (value.kind == .array))
            #expect((value.object != nil) == (value.kind == .object))
        }
    }

    @Test func `a value's bytes are the original's`() throws {
        let text = #" { "a" : [ 1.50 , "\u0061" ] , "b" : 1e400 } "#
        let root = try root(text)
        let utf8 = Array(text.utf8)

        #expect(root["a"]?.raw.bytes.elementsEqual(#"[ 1.50 , "\u0061" ]"#.utf8) == true)
        #expect(root["a"]?[0]?.raw.bytes.elementsEqual("1.50".utf8) == true)
        let range = try #require(root["b"]?.raw.range)
        #expect(utf8[range].elementsEqual("1e400".utf8))
        #expect(root.raw.range == 1..<utf8.count - 1)
    }

    @Test func `of members with one name the last counts and all are there`() throws {
        let root = try root(#"{"a":1,"b":2,"\u0061":3}"#)

        #expect(root["a"]?.int == 3)
        #expect(root.object?.compactMap(\.value.int) == [1, 2, 3])
    }

    @Test func `the first letter of a name can be taken in either case`() throws {
        let root = try root(
            #"{"Name":1,"KDF":2,"a":3,"A":4,"B":5,"b":6,"[x":7,"\u004bey":8,"é":9,"":10}"#
        )

        #expect(root["name"] == nil)
        #expect(root[anyCase: "name"]?.int == 1)
        #expect(root[anyCase: "kdf"] == nil)
        #expect(root[anyCase: "a"]?.int == 3)
        #expect(root[anyCase: "A"]?.int == 4)
        #expect(root[anyCase: "b"]?.int == 6)
        #expect(root[anyCase: "{x"] == nil, "Only letters have a case.")
        #expect(root[anyCase: "key"]?.int == 8)
        #expect(root[anyCase: ""]?.int == 10)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("1.0", nil), ("1e2", nil), ("-1", -1),
            ("123456789012345678901234567890", nil),
        ] as [(String, Int?)]
    )
    func `a whole number is one that is spelled so and fits`(
        _ text: String,
        _ int: Int?
    ) throws {
        #expect(try root(text).int == int)
    }

    @Test(
        arguments: [
            ("0.1", 0.1), ("-0.0", -0.0), ("1e400", nil), ("-1e400", nil), ("1e-400", 0),
            ("9007199254740993", 9_007_199_254_740_992),
            ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("5e-324", .leastNonzeroMagnitude),
            ("2.2250738585072011e-308", .leastNormalMagnitude.nextDown),
            ("123456789012345678901234567890", 1.2345678901234568e29),
        ] as [(String, Double?)]
    )
    func `a number is the nearest finite one`(_ text: String, _ double: Double?) throws {
        #expect(try root(text).double?.bitPattern == double?.bitPattern)
    }

    @Test func `descriptions keep secrets`() throws {
        let document = try JSON.Document(Array(#"{"password":"hunter2"}"#.utf8))
        let split = try JSON.Split(document.bytes)
        let password = try #require(document.root["password"])

        for value in [document, document.root, password, password.raw, split, split.root] as [Any] {
            var text = "\(value) " + String(reflecting: value)
            dump(value, to: &text)
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("- 104"), "Neither as numbers.")
        }
        #expect(password.description == "string, 9 bytes")
    }

    @Test func `a raw value outlives the text and can be read again`() throws {
        let raw = try #require(try root(#"[{"a":[1]}]"#)[0]?.raw)

        #expect(try JSON.Document(raw).root["a"]?[0]?.int == 1)
        #expect(raw.copy == raw)
        #expect(raw.copy.range == 0..<9)
        #expect(try JSON.Raw(Array(" \"\\n\" ".utf8)).string == "\n")
    }
}
