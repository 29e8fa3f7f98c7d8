import TestSupport
import Testing

/// The habits that a reviewer should not have to look for.
struct TidyTests {
    private let sources: SourceTree
    private let tests: SourceTree

    init() throws {
        sources = try SourceTree(below: "Sources", endings: [".swift", ".c", ".h", ".cpp"])
        tests = try SourceTree(below: "Tests", endings: [".swift"])
    }

    @Test func `there is something to look at`() {
        #expect(sources.files.count > 20)
        #expect(tests.files.count > 10)
    }

    @Test func `no task is without a parent, except the program's root`() throws {
        let pattern = #"\bTask(\.detached)?\s*(\(priority:[^)]*\))?\s*\{"#
        let found = try sources.findings(of: pattern) {
            $0.path != "Sources/System/Blocking.swift"
        }
        #expect(found.isEmpty)
    }

    @Test func `a bridge from a callback into a task gives its reason`() throws {
        #expect(try unexplained(#"\bTask(\.immediate)?\(executorPreference"#).isEmpty)
    }

    @Test func `what the compiler cannot check gives its reason`() throws {
        let pattern = #"@unchecked Sendable|nonisolated\(unsafe\)|unsafeBitCast"#
        #expect(try unexplained(pattern).isEmpty)
    }

    /// Code in which the pattern occurs with no comment right above it or behind it.
    private func unexplained(_ pattern: String) throws -> [Finding] {
        try sources.findings(of: pattern).filter { finding in
            let lines = sources.files.first { $0.path == finding.path }?.lines ?? []
            let above = lines.prefix(finding.line - 1).suffix(4)
            return !above.contains(where: \.isComment) && !finding.text.contains("//")
        }
    }

    @Test(arguments: [
        ("sqlite3_", ["SQLite"]), ("EVP_", ["Crypto"]), ("MHD_", ["HTTP"]), ("curl_", ["HTTP"]),
        ("lws_", ["HTTP"]), ("argon2", ["Crypto"]), ("protobuf_c_", ["Records"]),
    ])
    func `a C library is spoken to in one room only`(_ word: String, _ rooms: [String]) throws {
        let found = try sources.findings(of: word) {
            $0.path.hasSuffix(".swift") && !rooms.contains($0.room)
        }
        #expect(found.isEmpty)
    }

    @Test func `G-DI1 what is pending is written by the mesh alone`() throws {
        let pattern =
            #"\{ \.(record|withdraw|settle|queue|update|quarantineUnreadable)\(|PendingRecord"#
        let outside = ["Host", "holdfast"]
        #expect(sources.files.count { outside.contains($0.room) } > 50)
        #expect(try sources.findings(of: pattern) { outside.contains($0.room) }.isEmpty)
        #expect(try !sources.findings(of: pattern) { $0.room == "Sync" }.isEmpty)
    }

    @Test func `time and chance are passed in`() throws {
        let pattern = #"\bDate\(\)|Date\.now|\.random\(|\.randomElement\(|\.shuffled?\(\)|UUID\(\)"#
        let found = try sources.findings(of: pattern) {
            !["Sources/System/Timekeeper.swift", "Sources/System/Chance.swift"].contains($0.path)
        }
        #expect(found.isEmpty)
    }

    @Test func `nobody sleeps by the machine's clock`() throws {
        let pattern = #"Task\.sleep|usleep\(|\bsleep\([0-9]|Thread\.sleep|nanosleep"#
        #expect(try sources.findings(of: pattern).isEmpty)
        #expect(try tests.findings(of: pattern) { $0.room != "TidyTests" }.isEmpty)
    }

    @Test func `nothing is left for later`() throws {
        let pattern = #"\b(TODO|FIXME|XXX|HACK)\b|[Nn]ot (yet )?implemented"#
        #expect(try sources.lines(with: pattern).isEmpty)
        #expect(try tests.lines(with: pattern) { $0.room != "TidyTests" }.isEmpty)
    }

    @Test func `only the essentials of Foundation are used`() throws {
        let pattern = #"^\s*(public |internal |@\w+ )*import Foundation\s*$"#
        #expect(try sources.findings(of: pattern).isEmpty)
    }

    @Test func `only the command line prints`() throws {
        let found = try sources.findings(of: #"(^|[^[:alnum:]_.])(print|debugPrint|dump)\("#) {
            $0.room != "holdfast"
        }
        #expect(found.isEmpty)
    }

    @Test func `nothing is called by a word that says nothing`() throws {
        let nothing = "(Manager|Helper|Utils?|Common|Impl|Controller|Info)"
        let declared = #"\b(class|struct|enum|actor|protocol|typealias)\s+\w*"#
        let found = try sources.findings(of: declared + nothing + #"([^a-z]|$)"#)
        #expect(found.isEmpty)
    }

    @Test func `no test is switched off`() throws {
        let pattern = #"\.disabled\(|withKnownIssue|#expect\(true\)|XCTSkip"#
        #expect(try tests.findings(of: pattern) { $0.room != "TidyTests" }.isEmpty)
    }

    @Test func `links between documents lead somewhere`() throws {
        let documents =
            try SourceTree(below: "Docs", endings: [".md"]).files
            + [SourceTree.File(path: "README.md", text: SourceTree.read("README.md"))]
        for document in documents {
            let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
            for link in document.text.matches(of: /\]\(([^)#:\s]+)(#[^)]*)?\)/) {
                let path = folder.isEmpty ? String(link.1) : "\(folder)/\(link.1)"
                #expect(SourceTree.exists(path), "\(document) links to \(link.1).")
            }
        }
    }

    @Test func `the package's README names nothing but what the package has`() throws {
        let script = "\(SourceTree.root)/packaging/README.sed"
        let child = try Child.run("sed", ["-f", script, "\(SourceTree.root)/README.md"])
        #expect(child.status == 0)
        for word in ["`make", "    make", "swift", ".build", "packaging/", "Docs/", "Dashboards/"] {
            #expect(!child.output.contains(word), "\(word)")
        }
        for word in ["`/usr/lib/holdfast/bw`", "`holdfast.service`", "`examples`"] {
            #expect(child.output.contains(word), "\(word)")
        }
        let package = try SourceTree.read("packaging/deb.sh")
        #expect(package.contains(" usr/lib/holdfast/bw\n"))
        for link in child.output.matches(of: /\]\(([^)#:\s]+)(#[^)]*)?\)/) {
            #expect(package.contains(" \(link.1)"), "It links to \(link.1).")
        }
    }

    @Test func `the package's README speaks of the service that the package starts`() throws {
        let script = "\(SourceTree.root)/packaging/README.sed"
        let child = try Child.run("sed", ["-f", script, "\(SourceTree.root)/README.md"])
        #expect(
            !child.output.contains(".local/state") && !child.output.contains("serve --upstream")
        )
        let unit = try SourceTree.read("packaging/holdfast.service")
        #expect(unit.contains("StateDirectory=holdfast\n"))
        for words in [
            "HOLDFAST_STATE=/var/lib/holdfast", "Environment=HOLDFAST_UPSTREAM=",
            "cat /var/lib/holdfast/admin.token", "Environment=HOLDFAST_CONFIG=",
        ] {
            #expect(child.output.contains(words), "\(words)")
        }
    }

    @Test func `the service gives a start the time that a large database takes`() throws {
        let unit = try SourceTree.read("packaging/holdfast.service")
        #expect(unit.contains("\nTimeoutStartSec=infinity\n"))
    }

    @Test func `a document has one title`() throws {
        for document in try SourceTree(below: "Docs", endings: [".md"]).files {
            var isCode = false
            let titles = document.lines.filter { line in
                if line.hasPrefix("```") { isCode.toggle() }
                return !isCode && line.hasPrefix("# ")
            }
            #expect(titles.count == 1, "\(document)")
        }
    }
}
