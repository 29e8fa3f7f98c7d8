import JSON
import Testing

struct EditTests {
    private func edited(
        _ text: String,
        _ change: (inout JSON.Edit) throws -> Void
    ) throws -> String {
        var edit = JSON.Edit(try JSON.Document(Array(text.utf8)))
        try change(&edit)
        return String(decoding: edit.bytes, as: UTF8.self)
    }

    @Test func `a replaced value leaves all around it alone`() throws {
        let text =
            " {\n \"n\" : 1.50 ,\"x\":\"\\u0061\" , \"login\":{ \"uris\":[ {\"uri\":\"a\"} ]} } "

        #expect(try edited(text) { _ in } == text)
        #expect(
            try edited(text) { try $0.set(["login", "uris", 0, "uri"], to: "b") }
                == text.replacing("\"a\"", with: "\"b\"")
        )
        #expect(
            try edited(text) { try $0.set(["n"], to: 2) } == text.replacing("1.50", with: "2")
        )
        #expect(try edited(" [1] ") { try $0.set([], to: .null) } == " null ")
    }

    @Test(arguments: [
        ("[1, 2, 3]", 0, "[2, 3]"), ("[1, 2, 3]", 1, "[1, 3]"), ("[1, 2, 3]", 2, "[1, 2]"),
        ("[ 1 ]", 0, "[]"), ("[\n  1,\n  2\n]", 1, "[\n  1\n]"), ("[1 ,2]", 0, "[2]"),
        ("[1]", 1, "[1]"),
    ])
    func `a removed element takes one comma with it`(
        _ text: String,
        _ position: Int,
        _ result: String
    ) throws {
        #expect(try edited(text) { $0.remove([.element(position)]) } == result)
    }

    @Test(arguments: [
        ("[]", 0, "[9]"), ("[ ]", 0, "[9 ]"), ("[1, 2]", 2, "[1, 2, 9]"),
        ("[\n  1\n]", 1, "[\n  1,\n  9\n]"), ("null", 0, "[9]"),
    ])
    func `an added element takes over the white space of its neighbours`(
        _ text: String,
        _ position: Int,
        _ result: String
    ) throws {
        #expect(try edited(text) { try $0.set([.element(position)], to: 9) } == result)
    }

    @Test func `a missing member is made, with the objects on the way`() throws {
        #expect(try edited("{}") { try $0.set(["a", "b"], to: true) } == #"{"a":{"b":true}}"#)
        #expect(
            try edited(#"{"login":null}"#) { try $0.set(["login", "uris", 0, "uri"], to: "u") }
                == #"{"login":{"uris":[{"uri":"u"}]}}"#
        )
        #expect(
            try edited("{\n  \"a\": 1,\n  \"b\": 2\n}") { try $0.set(["c\""], to: .null) }
                == "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\\\"\": null\n}"
        )
        #expect(try edited("{}") { try $0.set(["a", 0], to: 1) } == #"{"a":[1]}"#)
    }

    @Test func `of members with one name the last is changed and all are removed`() throws {
        let text = #"{"a":1,"b":2,"\u0061":3}"#

        #expect(try edited(text) { try $0.set(["a"], to: 4) } == #"{"a":1,"b":2,"\u0061":4}"#)
        #expect(try edited(text) { $0.remove(["a"]) } == #"{"b":2}"#)
    }

    @Test func `names that only look the same are two names`() throws {
        let text = "{\"\u{e9}\":1}"

        #expect(
            try edited(text) { try $0.set(["e\u{301}"], to: 2) } == "{\"\u{e9}\":1,\"e\u{301}\":2}"
        )
    }

    @Test func `every change sees those before it`() throws {
        let result = try edited(#"{"history":[1,2,3,4,5],"keep":1.0}"#) { edit in
            try edit.set(["history", 5], to: 6)
            edit.remove(["history", 0])
            try edit.set(["history", 1], to: .object { $0.add("password", "x") })
            try edit.set(["history", 1, "password"], to: "y")
            try edit.set(["new"], to: .array { _ in })
            try edit.set(["new", 0], to: "z")
        }

        #expect(result == #"{"history":[2,{"password":"y"},4,5,6],"keep":1.0,"new":["z"]}"#)
    }

    @Test func `what cannot be done is refused and changes nothing`() throws {
        let text = #"{"name":"x","list":[1]}"#
        func sentence(_ change: (inout JSON.Edit) throws -> Void) throws -> String? {
            var edit = JSON.Edit(try JSON.Document(Array(text.utf8)))
            let error = #expect(throws: JSON.Mismatch.self) { try change(&edit) }
            #expect(edit.bytes == Array(text.utf8))
            return error?.description
        }

        #expect(try sentence { try $0.set(["name", "a"], to: 1) } == "name must be an object.")
        #expect(try sentence { try $0.set(["list", "a"], to: 1) } == "list must be an object.")
        #expect(try sentence { try $0.set(["name", 0], to: 1) } == "name must be an array.")
        #expect(try sentence { try $0.set(["new", 1], to: 1) } == "new[1] is missing.")
        #expect(try sentence { try $0.set(["list", 2, "a"], to: 1) } == "list[2] is missing.")
        #expect(try sentence { try $0.set(["list", -1], to: 1) } == "list[-1] is missing.")
    }

    @Test func `what would be nested too deeply is refused and changes nothing`() throws {
        let limit = JSON.Document.depthLimit
        func path(_ depth: Int) -> JSON.Path {
            JSON.Path(Array(repeating: .member("a"), count: depth))
        }
        func nested(_ depth: Int) -> JSON.Raw {
            (0..<depth).reduce(into: JSON.Raw.null) { raw, _ in
                let inner = raw
                raw = .array { $0.add(inner) }
            }
        }
        func outcome(_ change: (inout JSON.Edit) throws -> Void) throws -> String? {
            var edit = JSON.Edit(try JSON.Document(Array(#"{"b":[]}"#.utf8)))
            do {
                try change(&edit)
            } catch let error as JSON.Mismatch {
                #expect(edit.bytes == Array(#"{"b":[]}"#.utf8))
                return error.expectation
            }
            _ = try JSON.Document(edit.bytes)
            return nil
        }
        let refusal = "would be nested too deeply"

        #expect(try outcome { try $0.set(path(limit), to: 1) } == nil)
        #expect(try outcome { try $0.set(path(limit + 1), to: 1) } == refusal)
        #expect(try outcome { try $0.set(path(limit), to: .array { _ in }) } == refusal)
        #expect(try outcome { try $0.set([], to: nested(limit)) } == nil)
        #expect(try outcome { try $0.set([], to: nested(limit + 1)) } == refusal)
        #expect(try outcome { try $0.set(["a"], to: nested(limit - 1)) } == nil)
        #expect(try outcome { try $0.set(["a"], to: nested(limit)) } == refusal)
        #expect(try outcome { try $0.set(["b", 0], to: nested(limit - 2)) } == nil)
        #expect(try outcome { try $0.set(["b", 0], to: nested(limit - 1)) } == refusal)
    }

    @Test(arguments: [["a", "b"], ["list", 1], ["name", "x"], ["name", 0], []] as [JSON.Path])
    func `what is not there cannot be removed`(_ path: JSON.Path) throws {
        let text = #"{"name":"x","list":[1]}"#
        var edit = JSON.Edit(try JSON.Document(Array(text.utf8)))

        let isRemoved = edit.remove(path)
        #expect(!isRemoved)
        #expect(edit.bytes == Array(text.utf8))
    }

    @Test func `an item keeps what nobody here has heard of`() throws {
        let original = try Fixtures.bytes("cipher_create_passkey")
        let document = try JSON.Document(original)
        var edit = JSON.Edit(document)
        let password = try #require(document.root["login"]?["password"]?.raw)
        try edit.set(["login", "password"], to: "2.new")

        let expected =
            original[..<password.range.lowerBound] + Array("\"2.new\"".utf8)
            + original[password.range.upperBound...]
        #expect(edit.bytes == Array(expected))
    }
}
