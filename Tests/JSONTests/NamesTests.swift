import JSON
import Testing

struct NamesTests {
    private enum Field: String, CaseIterable { case id, name, Name, revisionDate }

    private static let fields = JSON.Names(Field.allCases, named: \.rawValue)

    private func names(of text: String) throws -> [JSON.Name] {
        let root = try JSON.Document(Array(text.utf8)).root
        return try #require(root.object).map(\.name)
    }

    @Test func `a name is found however it is spelled`() throws {
        let names = try names(of: #"{"id":1,"revisionDate":2,"\u0069\u0064":3,"n\u0061me":4}"#)
        #expect(names.map { Self.fields[$0] } == [.id, .revisionDate, .id, .name])
    }

    @Test func `a name that is not known is none of them`() throws {
        let names = try names(of: #"{"":1,"ID":2,"idd":3,"revisionDatf":4,"\u0000":5,"né":6}"#)
        for name in names { #expect(Self.fields[name] == nil, "\(name.string)") }
    }

    @Test func `only the first letter may be in either case, and the exact name comes first`()
        throws
    {
        let names = try names(of: #"{"Id":1,"RevisionDate":2,"Name":3,"name":4,"NAME":5,"iD":6}"#)
        #expect(
            names.map { Self.fields[anyCase: $0] }
                == [.id, .revisionDate, .Name, .name, nil, nil]
        )
    }

    @Test func `an object is walked once, past all that is not known`() throws {
        let text = #"{"x":[{"id":0}],"id":1,"y":{},"Name":2,"id":3,"iD":4,"revisionDate":null}"#
        let members = try #require(try JSON.Document(Array(text.utf8)).root.object)

        var found: [String] = []
        members.forEach(inAnyCase: Self.fields) { field, value in
            found.append("\(field) \(value.int ?? -1)")
        }
        #expect(found == ["id 1", "Name 2", "id 3", "revisionDate -1"])

        found = []
        members.forEach(inAnyCase: JSON.Names(["ID", "name"]) { $0 }) { name, value in
            found.append("\(name) \(value.int ?? -1)")
        }
        #expect(found == ["name 2", "ID 4"])
    }

    @Test func `what the visitor throws ends the walk`() throws {
        let members = try #require(try JSON.Document(Array(#"{"id":1,"name":2}"#.utf8)).root.object)
        var count = 0
        #expect(throws: JSON.Mismatch("is enough")) {
            try members.forEach(inAnyCase: Self.fields) { (_, _) throws(JSON.Mismatch) in
                count += 1
                throw JSON.Mismatch("is enough")
            }
        }
        #expect(count == 1)
    }

    @Test func `however many names there are, each is found and nothing else`() throws {
        let known = (0..<500).map { "member\($0)" } + ["", "é", "漢字"]
        let names = JSON.Names(Array(known.indices)) { known[$0] }
        let text = JSON.Raw.object { object in
            for name in known { object.add(name, 1) }
            for name in known { object.add(name + "x", 1) }
        }
        let found = try self.names(of: String(decoding: text.bytes, as: UTF8.self)).map {
            names[$0]
        }
        #expect(found.prefix(known.count) == known.indices.map { $0 }[...])
        #expect(found.dropFirst(known.count).allSatisfy { $0 == nil })
    }

    @Test func `of two with the same name the first is meant, and of none, none`() throws {
        let twice = JSON.Names([1, 2]) { _ in "id" }
        let name = try #require(try names(of: #"{"id":1}"#).first)
        #expect(twice[name] == 1)
        #expect(JSON.Names<Int>([]) { _ in "id" }[name] == nil)
    }
}
