import JSON
import System

/// Where tokens are kept: `tokens.json` in the state directory, for its owner only, and beside it the
/// text of the first one, for the operator to take.
struct TokenFile: Sendable {
    let path: String
    let adminPath: String

    private static let (name, adminName) = ("tokens.json", "admin.token")
    static let names = [name, adminName]

    init(state: String) {
        path = "\(state)/\(Self.name)"
        adminPath = "\(state)/\(Self.adminName)"
    }

    /// What cannot be looked for is not made anew.
    var exists: Bool {
        get throws(TokenError) {
            do throws(SystemError) { return try Files.exists(path) } catch {
                throw .unreadable(path: path, reason: error.description)
            }
        }
    }

    func read() throws(TokenError) -> [Token] {
        do {
            let document = try JSON.Document(try Files.readOrdinary(path))
            return try document.root.read("tokens")
        } catch {
            throw .unreadable(path: path, reason: String(describing: error))
        }
    }

    func write(_ tokens: [Token]) throws(TokenError) {
        let text = JSON.Raw.object { $0.add("tokens", tokens) }
        try replace(path, Array(text.bytes) + [UInt8(ascii: "\n")])
    }

    func writeAdmin(_ token: FreshToken) throws(TokenError) {
        try replace(adminPath, Array("\(token.text)\n".utf8))
    }

    private func replace(_ path: String, _ bytes: [UInt8]) throws(TokenError) {
        do {
            try Files.replace(path, with: bytes)
        } catch {
            throw .unwritable(path: path, reason: error.description)
        }
    }
}

/// Why tokens cannot be kept.
enum TokenError: Error, Hashable, CustomStringConvertible {
    case unreadable(path: String, reason: String)
    case unwritable(path: String, reason: String)

    var description: String {
        switch self {
        case .unreadable(let path, let reason):
            "The tokens in \(path) cannot be read (\(reason)). Mend the file, or remove it: then a"
                + " new admin token is made at the next start."
        case .unwritable(let path, let reason):
            "The tokens in \(path) cannot be written (\(reason)). Make room, or the directory writable."
        }
    }
}
