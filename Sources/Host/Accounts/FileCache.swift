import Crypto
import Glibc
import System

/// Where the files of accounts are kept as they came, a directory for each.
struct FileCache {
    static let directoryName = "files"
    private let path: String

    init(_ path: String) { self.path = path }

    /// A host that was stopped while it erased an account left its files, and nobody can ask for that again.
    func keepOnly(_ accounts: Set<String>) {
        for name in Files.names(in: path) where !accounts.contains(name) { remove(name) }
    }

    static func name(of attachmentID: String) -> String {
        Array(Digest.sha256(Array(attachmentID.utf8)).prefix(16)).hex
    }

    func holdsSomething(of account: String) -> Bool {
        !Files.names(in: "\(path)/\(account)").isEmpty
    }

    func keepOnly(_ files: Set<String>, of account: String) {
        let directory = "\(path)/\(account)"
        for name in Files.names(in: directory) where !files.contains(name) {
            unlink("\(directory)/\(name)")
        }
    }

    func remove(_ account: String) {
        let directory = "\(path)/\(account)"
        for name in Files.names(in: directory) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }
}
