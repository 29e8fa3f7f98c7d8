import CSQLite
import FoundationEssentials
import SQLite
import TestSupport
import Testing

@testable import Sync

/// What is asked of one account costs the same however many others there are.
@Suite struct QueryPlanTests {
    private struct Question {
        let file: String
        let text: String
    }

    /// Every statement of the sources that names an account.
    private static func questions() throws -> [Question] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Sync/PendingStore")
        let names = try FileManager.default.contentsOfDirectory(atPath: sources.path)
        return try names.sorted().filter { $0.hasSuffix(".swift") }.flatMap { name in
            let text = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
            return literals(of: text).filter(\.isAboutOneAccount).map {
                Question(file: name, text: $0)
            }
        }
    }

    /// Between quotation marks, three or one of them.
    private static func literals(of source: String) -> [String] {
        let parts = source.split(separator: "\"\"\"", omittingEmptySubsequences: false)
        return parts.enumerated().flatMap { number, part -> [String] in
            if number % 2 == 1 { return [String(part)] }
            return part.split(separator: "\n").flatMap { line in
                line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            }
        }
    }

    private static func plan(of text: String, _ handle: OpaquePointer) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, "EXPLAIN QUERY PLAN " + text, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        try #require(code == SQLITE_OK, "\(text)")
        var steps: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            sqlite3_column_text(statement, 3).map { steps.append(String(cString: $0)) }
        }
        return steps
    }

    @Test func `no question about one account looks at everybody's rows`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("plans.db")
        try await Database.open(path, migrations: Schema.migrations).close()
        var opened: OpaquePointer?
        #expect(sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(opened) }
        let handle = try #require(opened)
        let questions = try Self.questions()
        #expect(questions.count > 40)
        // What a wide one looks like.
        for text in ["SELECT * FROM receipt", "SELECT * FROM receipt WHERE queued_ticks < 1"] {
            #expect(try Self.plan(of: text, handle).contains(where: \.looksAtMany))
        }
        for question in questions where !question.text.isRare {
            let plan = try Self.plan(of: question.text, handle)
            #expect(!plan.isEmpty || question.text.isOnlyAnInsert, "\(question.text)")
            let wide = plan.filter(\.looksAtMany)
            #expect(wide.isEmpty, "\(question.file): \(question.text): \(wide)")
        }
    }
}

extension String {
    fileprivate var isAboutOneAccount: Bool {
        let words = split { $0 == " " || $0 == "\n" }
        let isStatement = ["SELECT", "UPDATE", "DELETE", "INSERT"].contains(
            words.first.map(String.init)
        )
        return isStatement && (contains("user_id = ?") || contains("user_id, "))
            && !contains("GROUP BY") && !contains("UNION")
    }

    /// Once in the life of an account, or of a damaged file.
    fileprivate var isRare: Bool {
        hasPrefix("DELETE FROM receipt WHERE user_id") || contains("NOT INDEXED")
            || contains("INDEXED BY") || contains("user_id >= ''")
            || contains("ORDER BY user_id")
            || hasPrefix("SELECT user_id, cipher_id, settled_ticks")
            || hasPrefix("SELECT user_id, made_id FROM alias")
            || hasPrefix("SELECT rowid, user_id, kind")
            || contains("NOT EXISTS (\n")
    }

    /// A step that is led by nothing that an account has for itself.
    fileprivate var looksAtMany: Bool {
        let leads = ["(user_id=?", "(id=?", "(rowid=?", "(pending_id=?", "(name=?"]
        return hasPrefix("SCAN") && self != "SCAN CONSTANT ROW"
            || hasPrefix("SEARCH") && !leads.contains(where: contains)
    }

    fileprivate var isOnlyAnInsert: Bool { contains("INSERT") }
}
