import JSON
import Testing

struct SplitTests {
    @Test func `a sync is taken apart`() throws {
        let body = try Fixtures.bytes("sync")
        let split = try JSON.Split(body, picking: ["id", "revisionDate"])
        let document = try JSON.Document(body)

        #expect(split["object"]?.raw.string == "sync")
        #expect(split["profile"]?.raw == document.root["profile"]?.raw)
        #expect(split["profile"]?.elements == nil)
        #expect(split[anyCase: "Ciphers"]?.raw == split["ciphers"]?.raw)
        #expect(split["nothing"] == nil)
        let ciphers = try #require(split["ciphers"]?.elements)
        let expected = try #require(document.root["ciphers"]?.array)
        #expect(ciphers.count > 5)
        #expect(ciphers.map(\.raw) == expected.map(\.raw))
        #expect(ciphers.map { $0["id"]?.string } == expected.map { $0["id"]?.string })
        #expect(
            ciphers.map { $0["revisionDate"]?.string }
                == expected.map { $0["revisionDate"]?.string }
        )
    }

    @Test func `fields that are missing, repeated or no fields at all are told apart`() throws {
        let body =
            #"{"x":[{"id":1,"id":2},{"i\u0064":3},{},null,[{"id":4}],{"a":{"id":5}}],"y":[]}"#
        let split = try JSON.Split(Array(body.utf8), picking: ["id"])

        let pieces = try #require(split["x"]?.elements)
        #expect(pieces.map { $0["id"]?.int } == [2, 3, nil, nil, nil, nil])
        #expect(pieces.map(\.raw.kind) == [.object, .object, .object, .null, .array, .object])
        #expect(split["y"]?.elements?.isEmpty == true)
        #expect(split.members.map(\.name) == ["x", "y"])
    }

    @Test func `a list alone has elements too`() throws {
        let split = try JSON.Split(Array(#" [{"id":"a"},{"id":"b"}] "#.utf8), picking: ["id"])

        #expect(split.root.elements?.map { $0["id"]?.string } == ["a", "b"])
        #expect(split.members.isEmpty)
        #expect(try JSON.Split(Array("7".utf8)).root.elements == nil)
    }

    @Test(arguments: [
        #"{"ciphers":[{"id":"a"},{"id":"b"}]"#, #"{"ciphers":[{"id":"a"},{"id":tru}]}"#,
        #"{"ciphers":[{"id":"a"}]}x"#, #"{"ciphers":[{"id":"a","n":01}]}"#,
        #"{"ciphers":[{"id":"a","n":"\q"}]}"#, #"{"ciphers":[{"id":"a"}{"id":"b"}]}"#,
    ])
    func `a body that is not whole and right shows nothing`(_ body: String) {
        #expect(throws: JSON.Failure.self) {
            try JSON.Split(Array(body.utf8), picking: ["id"])
        }
    }
}
