import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

/// Answers that become files.
@Suite struct ClientDownloadTests {
    private let scratch: Scratch
    private var path: String { scratch.file("answer") }
    private var draft: String { path + ".draft" }
    private let old = Array("what was there".utf8)
    private let new = Self.large
    private static let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    init() throws { scratch = try Scratch() }

    /// Serves a file at `/whole`, the beginning of one at `/part`, and other answers elsewhere.
    private func withServer(
        _ body: (Client, _ url: String) async throws -> Void
    ) async throws {
        let new = new
        try await withClient { connection in
            while let (head, _) = connection.request() {
                switch head.split(separator: " ")[1] {
                case "/whole": connection.respond(body: new)
                case "/part":
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
                    return
                case let status:
                    connection.respond("\(status.dropFirst()) X", body: Array("page".utf8))
                }
            }
        } _: {
            try await body($0, $1.url)
        }
    }

    @Test func `an answer is written to a file, whole or not at all`() async throws {
        try await withServer { client, url in
            let whole = try await client.download(.init(.get, url + "/whole"), to: path)
            #expect(whole.status == .ok)
            #expect(whole.body.isEmpty)
            #expect(try Files.read(path) == new)

            let error = await failure { () throws(ClientError) in
                try await client.download(.init(.get, url + "/part"), to: path)
            }
            #expect(error?.reason == .connectionLost)
            #expect(try Files.read(path) == new, "What was there stays.")
            #expect(access(draft, F_OK) != 0)
        }
    }

    @Test(arguments: [206, 302, 400, 404, 500, 503])
    func `an answer that is not a success replaces nothing`(_ status: Int) async throws {
        try Files.replace(path, with: old)
        try await withServer { client, url in
            let answer = try await client.download(.init(.get, "\(url)/\(status)"), to: path)
            #expect(answer.status.rawValue == status)
            #expect(answer.body == Array("page".utf8))
            var small = Client.Configuration()
            small.bodyLimit = 2
            let frugal = try Client(configuration: small)
            let error = await failure { () throws(ClientError) in
                try await frugal.download(.init(.get, "\(url)/\(status)"), to: path)
            }
            #expect(error?.reason == .tooLarge(.body, limit: 2))
            await frugal.close()
        }
        #expect(try Files.read(path) == old)
        #expect(access(draft, F_OK) != 0)
    }

    enum Leftover: CaseIterable {
        case link, symbolicLink, namedPipe, readableFile

        func lay(at path: String, other: String) throws {
            switch self {
            case .link: try system("link") { Glibc.link(other, path) }
            case .symbolicLink: try system("symlink") { symlink(other, path) }
            case .namedPipe: try system("mkfifo") { mkfifo(path, 0o666) }
            case .readableFile: try Files.replace(path, with: [1], mode: 0o644)
            }
        }
    }

    @Test(arguments: Leftover.allCases)
    func `what a crash has left, or somebody has laid there, is neither used nor followed`(
        _ leftover: Leftover
    ) async throws {
        let other = scratch.file("other")
        try Files.replace(other, with: old)
        try leftover.lay(at: draft, other: other)
        try await withServer { client, url in
            _ = try await client.download(.init(.get, url + "/whole"), to: path)
        }
        var facts = stat()
        #expect(lstat(path, &facts) == 0)
        #expect(facts.st_mode == S_IFREG | 0o600)
        #expect(try Files.read(path) == new)
        #expect(try Files.read(other) == old)
    }

    @Test func `of two who fetch to the same place the second is refused`() async throws {
        try Files.replace(path, with: old)
        try await withServer { client, url in
            try await {
                let first = try Draft(of: path)
                try first.write([1, 2, 3])
                let error = await failure { () throws(ClientError) in
                    try await client.download(.init(.get, url + "/whole"), to: path)
                }
                guard case .local(let text) = error?.reason, text.contains("lock") else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(try Files.read(path) == old)
                try first.takePlace()
            }()
            #expect(try Files.read(path) == [1, 2, 3])
            _ = try await client.download(.init(.get, url + "/whole"), to: path)
            #expect(try Files.read(path) == new)
        }
    }

    @Test func `a place that cannot be written to is an error with its reason`() async throws {
        try await withServer { client, url in
            let error = await failure { () throws(ClientError) in
                try await client.download(.init(.get, url + "/whole"), to: "/nonexistent/answer")
            }
            guard case .local(let text) = error?.reason, text.contains("No such file") else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
