import System

enum Fixtures {
    static let names = [
        "cipher_create_identity", "cipher_create_login", "cipher_create_login.pretty",
        "cipher_create_passkey", "cipher_update_out_of_date", "config", "folder_list", "profile",
        "sync", "token",
    ]

    static func bytes(_ name: String, testFile: String = #filePath) throws -> [UInt8] {
        let folder = testFile.split(separator: "/").dropLast().joined(separator: "/")
        return try Files.read("/\(folder)/Fixtures/\(name).json")
    }
}
