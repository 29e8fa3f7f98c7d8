import Crypto
import Glibc
import JSON
import System
import Vault

/// A vault of logins, opened and listed, beside the same EncStrings opened and nothing else.
struct ItemBenchmarks {
    private let keys: KeyRing
    private let ciphers: [[UInt8]]
    private let sealed: [Sealed]

    private struct Sealed {
        var key: String?
        var strings: [String]
    }

    static func run(_ bench: Bench) async throws {
        let count = bench.count(10_000, quick: 200)
        for hasOwnKey in [false, true] {
            let vault = try ItemBenchmarks(count: count, hasOwnKey: hasOwnKey)
            let before = peakMegabytes()
            let items = try vault.items()
            bench.note("growth with \(count) open items", "\(peakMegabytes() - before) MiB")
            withExtendedLifetime(items) {}
            let name = hasOwnKey ? "keys of their own" : "the account's key"
            try await bench.compare(
                "open \(count) logins, \(name)",
                .cost("ms"),
                aim: 0.5,
                ours: { try await seconds { try vault.open() } * 1000 },
                ceiling: { try await seconds { try vault.openStringsAlone() } * 1000 }
            )
            try await bench.compare(
                "open and answer with all of them",
                .cost("ms"),
                aim: 0.5,
                ours: { try await seconds { try vault.answer() } * 1000 },
                ceiling: { try await seconds { try vault.openStringsAlone() } * 1000 }
            )
        }
    }

    private init(count: Int, hasOwnKey: Bool) throws {
        let entropy = SeededChance(seed: 1)
        let keys = try KeyRing(
            user: SymmetricKey(from: entropy),
            account: WrappedKeys(privateKey: nil),
            entropy: entropy
        )
        var ciphers: [[UInt8]] = []
        for number in 0..<count {
            let body = try ItemBody(Self.login(number))
            let cipher = try Cipher(
                creating: body,
                id: "0b0c8f5e-5a0e-4d62-9a5c-\(100_000_000_000 + number)",
                hasOwnKey: hasOwnKey,
                at: Moment(ticks: 0),
                keys: keys,
                entropy: entropy
            )
            ciphers.append(cipher.bytes)
        }
        self.keys = keys
        self.ciphers = ciphers
        sealed = try ciphers.map(Self.sealed)
    }

    private static func login(_ number: Int) -> [UInt8] {
        let raw = JSON.Raw.object { body in
            body.add("type", 1)
            body.add("name", "Site number \(number)")
            body.object("login") { login in
                login.add("username", "somebody.\(number)@example.test")
                login.add("password", "c0rrect-horse-\(number)")
                login.array("uris") {
                    $0.object { $0.add("uri", "https://site-\(number).example.test/login") }
                }
            }
        }
        return Array(raw.bytes)
    }

    private static func sealed(in bytes: [UInt8]) throws -> Sealed {
        let root = try JSON.Document(bytes).root
        let login = root["login"]
        let values = [
            root["name"], login?["username"], login?["password"], login?["uris"]?[0]?["uri"],
        ]
        return Sealed(key: root["key"]?.string, strings: values.compactMap { $0?.string })
    }

    private func items() throws -> [Item] {
        try ciphers.map { Item(try Cipher($0), keys: keys) }
    }

    private func open() throws {
        for bytes in ciphers {
            let item = Item(try Cipher(bytes), keys: keys)
            precondition(item.flaws.isEmpty)
        }
    }

    private func answer() throws {
        let list = JSON.Raw.array(capacity: ciphers.count * 800) { list in
            for bytes in ciphers {
                guard let cipher = try? Cipher(bytes) else { continue }
                list.add(Item(cipher, keys: keys))
            }
        }
        precondition(list.bytes.count > ciphers.count * 400)
    }

    private func openStringsAlone() throws {
        var count = 0
        for cipher in sealed {
            let sealer = try cipher.key.map { Sealer(try keys.user.unwrapKey($0)) } ?? keys.user
            for string in cipher.strings { count += try sealer.open(string).utf8.count }
        }
        precondition(count > 0)
    }
}

/// The most that the process has had so far.
private func peakMegabytes() -> Int {
    var usage = rusage()
    getrusage(0, &usage)  // Of this process; the name is not to be had in Swift.
    return usage.ru_maxrss >> 10
}
