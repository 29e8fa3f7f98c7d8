import Glibc
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

    @Test func `it is made for its owner only`() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.file("state"))
        var status = stat()
        #expect(stat(directory.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
    }
}
