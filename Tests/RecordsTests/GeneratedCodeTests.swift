import FoundationEssentials
import TestSupport
import Testing

@Suite struct GeneratedCodeTests {
    private static let root = Fixtures.path.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" }

    @Test func `the generated code is what protoc-c makes of the source`() throws {
        let scratch = try Scratch()
        let child = try Child.run(
            "protoc-c",
            ["--proto_path=\(Self.root)/proto", "--c_out=\(scratch.path)", "records.proto"]
        )
        #expect(child.status == 0, "\(child.complaint)")
        let room = "\(Self.root)/Sources/C/CRecords"
        for (made, kept) in [
            ("records.pb-c.c", "\(room)/records.pb-c.c"),
            ("records.pb-c.h", "\(room)/include/records.pb-c.h"),
        ] {
            let fresh = try String(contentsOfFile: scratch.file(made), encoding: .utf8)
            #expect(try String(contentsOfFile: kept, encoding: .utf8) == fresh, "\(made)")
        }
    }
}
