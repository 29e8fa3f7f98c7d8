import JSON
import Testing

private struct Login: JSON.Readable, Equatable {
    struct URI: JSON.Readable, Equatable {
        var uri: String
        var match: Int?

        init(json: JSON.Value) throws(JSON.Mismatch) {
            uri = try json.read("uri")
            match = try json.read("match")
        }
    }

    var name: String
    var isFavorite: Bool
    var uris: [URI]?
    var weight: Double?

    init(json: JSON.Value) throws(JSON.Mismatch) {
        name = try json.read(anyCase: "name")
        isFavorite = try json.read("favorite")
        uris = try json.read("uris")
        weight = try json.read("weight")
    }
}

struct ReadableTests {
    private func login(_ text: String) throws -> Login {
        try Login(json: JSON.Document(Array(text.utf8)).root)
    }

    @Test func `a body becomes a type`() throws {
        let login = try login(
            #"{"Name":"x","favorite":true,"new":1,"uris":[{"uri":"u","match":null},{"uri":"v","match":3}]}"#
        )

        #expect(login.name == "x")
        #expect(login.isFavorite)
        #expect(login.uris?.map(\.uri) == ["u", "v"])
        #expect(login.uris?.map(\.match) == [nil, 3])
        #expect(login.weight == nil)
    }

    @Test(
        arguments: [
            ("3", 3), ("3.0", 3), ("30e-1", 3), ("-0.0", 0), ("9223372036854775807", .max),
            ("3.5", nil), ("1e19", nil), ("9223372036854775808", nil), (#""3""#, nil),
        ] as [(String, Int?)]
    )
    func `a whole number is read in each of its spellings`(_ text: String, _ int: Int?) throws {
        let root = try JSON.Document(Array(text.utf8)).root
        #expect((try? Int(json: root)) == int)
    }

    @Test(arguments: [
        ("[]", "The value must be an object."),
        ("{}", "name is missing."),
        (#"{"name":null}"#, "name must be a string."),
        (#"{"name":"x"}"#, "favorite is missing."),
        (#"{"name":"x","favorite":1}"#, "favorite must be true or false."),
        (#"{"name":"x","favorite":true,"uris":{}}"#, "uris must be an array."),
        (#"{"name":"x","favorite":true,"uris":[{"uri":"u"},7]}"#, "uris[1] must be an object."),
        (#"{"name":"x","favorite":true,"uris":[{}]}"#, "uris[0].uri is missing."),
        (
            #"{"name":"x","favorite":true,"uris":[{"uri":"u","match":1.5}]}"#,
            "uris[0].match must be a whole number."
        ),
        (#"{"name":"x","favorite":true,"weight":"hunter2"}"#, "weight must be a number."),
    ])
    func `a body of another shape is told what it should be`(
        _ text: String,
        _ sentence: String
    ) throws {
        let error = #expect(throws: JSON.Mismatch.self) { try login(text) }
        #expect(error?.description == sentence)
    }
}
