import Crypto
import FoundationEssentials
import Glibc
import System
import TestSupport
import Testing

@testable import Host

@Suite struct HostKeyTests {
    @Test func `a key is made once, and opens what it has sealed`() throws {
        let scratch = try Scratch()
        let path = scratch.file("host.key")
        let sealed = try HostKey(at: path).sealer.seal("token")
        #expect(try HostKey(at: path).sealer.open(sealed) == "token")
    }

    @Test(arguments: ["", "no key", "c2hvcnQ="])
    func `a key that is none is named, stays as it is, and nothing is sealed with another`(
        _ text: String
    ) throws {
        let scratch = try Scratch()
        let path = scratch.file("host.key")
        try Files.replace(path, with: Array(text.utf8))
        do {
            _ = try HostKey(at: path)
            Issue.record("It was taken for a key.")
        } catch {
            #expect("\(error)".hasPrefix("\(path) is no key"))
        }
        #expect(try Files.read(path) == Array(text.utf8))
    }

    @Test func `no other key is made while the disk with the key is away`() throws {
        let scratch = try Scratch()
        let (path, there) = (scratch.file("host.key"), scratch.file("there"))
        let sealed = try HostKey(at: there).sealer.seal("token")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: there)
        try FileManager.default.moveItem(atPath: there, toPath: there + ".away")
        #expect(throws: SystemError.self) { try HostKey(at: path) }
        try FileManager.default.moveItem(atPath: there + ".away", toPath: there)
        #expect(try HostKey(at: path).sealer.open(sealed) == "token")
    }

    @Test func `a pipe in the place of the key is refused and not waited for`() throws {
        let scratch = try Scratch()
        let path = scratch.file("host.key")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: SystemError.self) { try HostKey(at: path) }
        do {
            _ = try HostKey(found: path)
            Issue.record("It was taken for a key.")
        } catch {
            #expect("\(error)".contains("no ordinary file"))
        }
    }

    @Test func `files of accounts that are not here any more do not stay`() throws {
        let scratch = try Scratch()
        let path = scratch.file("files")
        for account in ["here", "gone"] {
            try Files.makePrivateDirectory("\(path)/\(account)")
            try Files.replace("\(path)/\(account)/file", with: [1])
        }
        FileCache(path).keepOnly(["here", "new"])
        #expect(try Files.read("\(path)/here/file") == [1])
        #expect(!Files.isDirectory("\(path)/gone"))
        FileCache(scratch.file("nowhere")).keepOnly([])
        try Files.makePrivateDirectory("\(path)/here")
        for id in ["kept", "gone"] {
            try Files.replace("\(path)/here/\(FileCache.name(of: id))", with: [1])
        }
        #expect(FileCache(path).holdsSomething(of: "here"))
        FileCache(path).keepOnly([FileCache.name(of: "kept")], of: "here")
        let left = try FileManager.default.contentsOfDirectory(atPath: "\(path)/here")
        #expect(left.contains(FileCache.name(of: "kept")))
        #expect(!left.contains(FileCache.name(of: "gone")))
        FileCache(path).remove("here")
        #expect(!FileCache(path).holdsSomething(of: "here"))
    }
}
