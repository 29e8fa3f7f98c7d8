import JSON
import System
import Testing

struct WriterTests {
    private func text(_ raw: JSON.Raw) -> String { String(decoding: raw.bytes, as: UTF8.self) }

    @Test func `values are written compactly and in order`() {
        let raw = JSON.Raw.object { json in
            json.add("b", true)
            json.add("a", [1, -2])
            json.add("none", String?.none)
            json.add("half", JSON.Finite(0.5))
            json.object("o") { $0.array("empty") { _ in } }
            json.array("l") { list in
                list.add("x")
                list.object { $0.array("inner") { $0.object { _ in } } }
                list.object { $0.add("y", UInt64.max) }
            }
        }

        #expect(
            text(raw)
                == #"{"b":true,"a":[1,-2],"none":null,"half":0.5,"o":{"empty":[]},"#
                + #""l":["x",{"inner":[{}]},{"y":18446744073709551615}]}"#
        )
    }

    @Test func `only what must be escaped is`() throws {
        #expect(text("\"\\/") == #""\"\\/""#)
        #expect(text("\u{8}\u{9}\u{A}\u{C}\u{D}") == #""\b\t\n\f\r""#)
        #expect(text("\u{0}\u{1f}\u{7f}\u{2028}é😀") == "\"\\u0000\\u001f\u{7f}\u{2028}é😀\"")
        for scalar in (0...0x3FF).compactMap(Unicode.Scalar.init) {
            for padding in 0..<20 {
                let string = String(repeating: "x", count: padding) + String(scalar) + "yyyyyyyyy"
                #expect(JSON.Raw(string).string == string)
                #expect(try JSON.Raw(Array(JSON.Raw(string).bytes)).string == string)
            }
        }
    }

    @Test(
        arguments: [
            (0, "0.0"), (-0.0, "-0.0"), (0.1, "0.1"), (5, "5.0"), (1e20, "1e+20"), (1e-7, "1e-07"),
            (.leastNonzeroMagnitude, "5e-324"),
            (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
            (0.30000000000000004, "0.30000000000000004"),
        ] as [(Double, String)]
    )
    func `a number is as short as it can be`(_ double: Double, _ spelling: String) {
        #expect(text(JSON.Raw(JSON.Finite(double))) == spelling)
    }

    @Test func `a whole number is written with all its digits`() {
        for number in -120...120 { #expect(text(JSON.Raw(number)) == String(number)) }
    }

    @Test func `any number comes back as it went`() {
        let chance = SeededChance(seed: 11)
        for _ in 0..<5_000 {
            let double = Double(bitPattern: chance.next())
            guard let finite = JSON.Finite(double) else { continue }
            #expect(JSON.Raw(finite).double?.bitPattern == double.bitPattern)
            let int = Int(truncatingIfNeeded: chance.next())
            #expect(JSON.Raw(int).int == int)
        }
    }

    @Test func `what is not a number has no place in JSON`() {
        #expect(JSON.Finite(.nan) == nil)
        #expect(JSON.Finite(.infinity) == nil)
        #expect(JSON.Finite(-.infinity) == nil)
        #expect(text(JSON.Raw(JSON.Finite(.nan))) == "null")
    }

    private struct Silent: JSON.Writable {
        func write(to json: inout JSON.Writer) {}
    }

    private struct Talkative: JSON.Writable {
        func write(to json: inout JSON.Writer) {
            json.null()
            json.null()
        }
    }

    @Test func `whoever writes no value or two is stopped`() async {
        await #expect(processExitsWith: .failure) { _ = JSON.Raw(Silent()) }
        await #expect(processExitsWith: .failure) { _ = JSON.Raw(Talkative()) }
        await #expect(processExitsWith: .failure) { _ = JSON.Raw([Silent()]) }
    }

    @Test func `a raw value goes in as it is`() throws {
        let document = try JSON.Document(Array(#"{"a": 1.50 }"#.utf8))
        let raw = JSON.Raw.object { json in
            json.add("whole", document.root)
            json.add("part", document.root["a"])
            json.add("null", nil as JSON.Raw?)
        }

        #expect(text(raw) == #"{"whole":{"a": 1.50 },"part":1.50,"null":null}"#)
    }
}
