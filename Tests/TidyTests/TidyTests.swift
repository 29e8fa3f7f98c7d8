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

    private func findings(
        of pattern: Regex<some Any>,
        except isAllowed: (SourceTree.File) -> Bool = { _ in false }
    ) -> [Finding] {
        sources.files.filter { !isAllowed($0) }.flatMap { $0.findings(of: pattern) }
    }

    @Test func `there is something to look at`() {
        #expect(sources.files.count > 20)
        #expect(tests.files.count > 10)
    }

    @Test func `no task is without a parent, except the program's root`() {
        let found = findings(of: /\bTask(\.detached)?\s*(\(priority:[^)]*\))?\s*\{/) {
            $0.path == "Sources/System/Blocking.swift"
        }
        #expect(found.isEmpty)
    }

    @Test func `a bridge from a callback into a task gives its reason`() {
        #expect(unexplained(/\bTask(\.immediate)?\(executorPreference/).isEmpty)
    }

    @Test func `what the compiler cannot check gives its reason`() {
        #expect(unexplained(/@unchecked Sendable|nonisolated\(unsafe\)|unsafeBitCast/).isEmpty)
    }

    /// Code in which the pattern occurs with no comment right above it or behind it.
    private func unexplained(_ pattern: Regex<some Any>) -> [Finding] {
        sources.files.flatMap { file in
            file.findings(of: pattern).filter { finding in
                let above = file.lines[..<(finding.line - 1)].suffix(4)
                return !above.contains(where: \.isComment) && !finding.text.contains("//")
            }
        }
    }

    @Test(arguments: [
        ("sqlite3_", ["SQLite"]), ("EVP_", ["Crypto"]), ("MHD_", ["HTTP"]), ("curl_", ["HTTP"]),
        ("lws_", ["HTTP"]), ("argon2", ["Crypto"]), ("protobuf_c_", ["Records"]),
    ])
    func `a C library is spoken to in one room only`(_ word: String, _ rooms: [String]) {
        let found = sources.files
            .filter { $0.path.hasSuffix(".swift") && !rooms.contains($0.room) }
            .flatMap(\.lines)
            .filter { !$0.isComment && $0.contains(word) }
        #expect(found.isEmpty)
    }

    @Test func `G-DI1 what is pending is written by the mesh alone`() {
        let pattern =
            /\{ \.(record|withdraw|settle|queue|update|quarantineUnreadable)\(|PendingRecord/
        let outside = sources.files.filter { ["Host", "holdfast"].contains($0.room) }
        #expect(outside.count > 50)
        #expect(outside.flatMap { $0.findings(of: pattern) }.isEmpty)
        let inside = sources.files.filter { $0.room == "Sync" }
        #expect(!inside.flatMap { $0.findings(of: pattern) }.isEmpty)
    }

    @Test func `time and chance are passed in`() {
        let found = findings(
            of: /\bDate\(\)|Date\.now|\.random\(|\.randomElement\(|\.shuffled?\(\)|UUID\(\)/
        ) {
            ["Sources/System/Timekeeper.swift", "Sources/System/Chance.swift"].contains($0.path)
        }
        #expect(found.isEmpty)
    }

    @Test func `nobody sleeps by the machine's clock`() {
        let pattern = /Task\.sleep|usleep\(|\bsleep\(\d|Thread\.sleep|nanosleep/
        #expect(findings(of: pattern).isEmpty)
        let others = tests.files.filter { $0.room != "TidyTests" }
        #expect(others.flatMap { $0.findings(of: pattern) }.isEmpty)
    }

    @Test func `nothing is left for later`() {
        let pattern = /\b(TODO|FIXME|XXX|HACK)\b|[Nn]ot (yet )?implemented/
        let all = sources.files + tests.files.filter { $0.room != "TidyTests" }
        let found = all.flatMap { file in
            file.lines.filter { $0.firstMatch(of: pattern) != nil }.map { "\(file.path): \($0)" }
        }
        #expect(found.isEmpty)
    }

    @Test func `only the essentials of Foundation are used`() {
        #expect(findings(of: /^\s*(public |internal |@\w+ )*import Foundation\s*$/).isEmpty)
    }

    @Test func `only the command line prints`() {
        let found = findings(of: /(^|[^\w.])(print|debugPrint|dump)\(/) { $0.room == "holdfast" }
        #expect(found.isEmpty)
    }

    @Test func `nothing is called by a word that says nothing`() {
        let nothing = /\b(Manager|Helper|Utils?|Common|Impl|Controller|Info)\b/
        let declared = /\b(class|struct|enum|actor|protocol|typealias)\s+(\w+)/
        let found = sources.files.flatMap { $0.findings(of: declared) }.filter { finding in
            finding.text.firstMatch(of: declared)?.2.splitWords.contains(where: {
                $0.wholeMatch(of: nothing) != nil
            }) == true
        }
        #expect(found.isEmpty)
    }

    @Test func `no test is switched off`() {
        let pattern = /\.disabled\(|withKnownIssue|#expect\(true\)|XCTSkip/
        let others = tests.files.filter { $0.room != "TidyTests" }
        #expect(others.flatMap { $0.findings(of: pattern) }.isEmpty)
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

extension Substring {
    /// `PendingStore` is `Pending` and `Store`.
    fileprivate var splitWords: [Substring] {
        matches(of: /[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/).map(\.0)
    }
}
