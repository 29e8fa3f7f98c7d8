import FoundationEssentials
import TestSupport
import Testing

/// The project's own files as text.
struct SourceTree {
    struct File: CustomStringConvertible {
        /// From the project's root on.
        let path: String
        let text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
        var room: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
        var description: String { path }
    }

    static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    let files: [File]

    init(below folders: String..., endings: Set<String>) throws {
        files = try folders.flatMap { folder in
            let walk = try FileManager.default.subpathsOfDirectory(
                atPath: "\(Self.root)/\(folder)"
            )
            return try walk.sorted()
                .filter { path in endings.contains { path.hasSuffix($0) } }
                .map { try File(path: "\(folder)/\($0)", text: Self.read("\(folder)/\($0)")) }
        }
    }

    static func read(_ path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(root)/\(path)")
    }
}

/// A line that breaks a habit, in the form that editors jump to.
struct Finding: CustomStringConvertible {
    let path: String
    let line: Int
    let text: Substring

    var description: String { "\(path):\(line): \(text.trimmed)" }
}

extension SourceTree {
    /// The lines of code in which the pattern, as `grep -E` has it, occurs; comments do not count. Swift's own
    /// expressions take half a minute for all files where they are not optimised.
    func findings(
        of pattern: String,
        where isMeant: (File) -> Bool = { _ in true }
    ) throws -> [Finding] {
        try lines(with: pattern, where: isMeant).filter { !$0.text.isComment }
    }

    func lines(
        with pattern: String,
        where isMeant: (File) -> Bool = { _ in true }
    ) throws -> [Finding] {
        let paths = files.filter(isMeant).map { "\(Self.root)/\($0.path)" }
        guard !paths.isEmpty else { return [] }
        let search = try Child.run("grep", ["-EnHI", "-e", pattern, "--"] + paths)
        try #require(search.status <= 1, "\(search.complaint)")
        return search.output.split(separator: "\n").map { line in
            let parts = line.dropFirst(Self.root.count + 1)
                .split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            return Finding(path: String(parts[0]), line: Int(parts[1]) ?? 0, text: parts[2])
        }
    }
}

extension Substring {
    var isComment: Bool { trimmed.hasPrefix("//") }

    var trimmed: Substring {
        guard let first = firstIndex(where: { $0 != " " }) else { return "" }
        return self[first...]
    }
}
