import Crypto
import Glibc

/// Where the files of accounts are kept as they came, a directory for each.
struct FileCache {
    private let path: String

    init(_ path: String) { self.path = path }

    /// A host that was stopped while it erased an account left its files, and nobody can ask for that again.
    func keepOnly(_ accounts: Set<String>) {
        for name in names(in: path) where !accounts.contains(name) { remove(name) }
    }

    static func name(of attachmentID: String) -> String {
        Array(Digest.sha256(Array(attachmentID.utf8)).prefix(16)).hex
    }

    func holdsSomething(of account: String) -> Bool { !names(in: "\(path)/\(account)").isEmpty }

    func keepOnly(_ files: Set<String>, of account: String) {
        let directory = "\(path)/\(account)"
        for name in names(in: directory) where !files.contains(name) {
            unlink("\(directory)/\(name)")
        }
    }

    func remove(_ account: String) {
        let directory = "\(path)/\(account)"
        for name in names(in: directory) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    private func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
