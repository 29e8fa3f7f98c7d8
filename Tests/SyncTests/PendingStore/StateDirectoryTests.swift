import Glibc
import System
import TestSupport
import Testing

@testable import Sync

@Suite struct StateDirectoryTests {
    @Test func `T-12 a second host is refused and told who holds the directory`() throws {
        let scratch = try Scratch()
        let path = scratch.file("a/b")
        let first = try StateDirectory(path)
        #expect(throws: StoreError.held(directory: path, by: getpid())) {
            try StateDirectory(path)
        }
        let error = StoreError.held(directory: path, by: getpid())
        #expect("\(error)".contains("\(getpid())"))
        withExtendedLifetime(first) {}
    }

    @Test func `the directory is free again when its holder is gone`() throws {
        let scratch = try Scratch()
        _ = try StateDirectory(scratch.path)
        _ = try StateDirectory(scratch.path)
    }

    @Test func `a file in its place is told apart from a directory that is gone`() throws {
        let scratch = try Scratch()
        try Files.replace(scratch.file("state"), with: [])
        for path in [scratch.file("state"), scratch.file("state/below")] {
            let error = #expect(throws: StoreError.self) { try StateDirectory(path) }
            let text = error?.description ?? ""
            #expect(text.contains(scratch.file("state")))
            #expect(text.contains("a file where a directory should be"))
            #expect(!text.contains("mounted"))
        }
    }

    @Test func `it is made for its owner only`() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.file("state"))
        var status = stat()
        #expect(stat(directory.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
    }
}
