import CCeilings
import Crypto

/// EncStrings against the same OpenSSL calls in a bare loop, and what the expensive things cost.
func cryptoBenchmarks(_ bench: Bench) async throws {
    let ceiling = try CryptoCeiling()
    for size in [32, 1_024] {
        try await encStrings(bench, ceiling, size)
    }
    try await items(bench, ceiling)
    try await together(bench, ceiling)
    try await expensive(bench)
}

/// One key, on both sides.
private final class CryptoCeiling {
    let sealer: Sealer
    let box: OpaquePointer
    let itemBox: OpaquePointer

    init() throws {
        let key = SymmetricKey(from: SystemEntropy())
        box = key.withUnsafeBytes { ceiling_crypto_new($0.baseAddress) }
        itemBox = key.withUnsafeBytes { ceiling_crypto_new($0.baseAddress) }
        sealer = Sealer(key)
    }

    deinit {
        ceiling_crypto_free(box)
        ceiling_crypto_free(itemBox)
    }

    func rate(_ rounds: Int, _ expected: Int, _ work: () -> Int) async throws -> Double {
        var made = 0
        let time = await seconds { made = work() }
        precondition(made == expected, "The ceiling does not do the same work.")
        return Double(rounds) / time
    }
}

private func encStrings(_ bench: Bench, _ ceiling: CryptoCeiling, _ size: Int) async throws {
    // Many short pairs: what a shared machine does meanwhile then strikes single pairs only.
    let bench = Bench(pairs: bench.pairs * 5, isQuick: bench.isQuick)
    let rounds = bench.count(40_000 / (size < 100 ? 1 : 4), quick: 2_000)
    let text = String(repeating: "x", count: size)
    let sealed = try ceiling.sealer.seal(text)
    let count = sealed.utf8.count
    try await bench.compare("open EncString, \(size) B", .rate("/s"), aim: 0.9) {
        try await rate(of: rounds) { try ceiling.sealer.open(sealed).utf8.count == size }
    } ceiling: {
        try await ceiling.rate(rounds, size * rounds) {
            ceiling_crypto_open(ceiling.box, sealed, count, Int32(rounds))
        }
    }
    try await bench.compare("seal EncString, \(size) B", .rate("/s"), aim: 0.9) {
        try await rate(of: rounds) { try ceiling.sealer.seal(text).utf8.count == count }
    } ceiling: {
        try await ceiling.rate(rounds, count * rounds) {
            ceiling_crypto_seal(ceiling.box, text, size, Int32(rounds))
        }
    }
}

/// What a list of a vault does for each item: a key of its own and six short fields under it.
private func items(_ bench: Bench, _ ceiling: CryptoCeiling) async throws {
    let rounds = bench.count(20_000, quick: 200)
    let key = SymmetricKey(from: SystemEntropy())
    let wrapped = try ceiling.sealer.wrap(key)
    let field = try Sealer(key).seal(String(repeating: "x", count: 20))
    let (wrappedCount, count) = (wrapped.utf8.count, field.utf8.count)
    func ceilingRate() async throws -> Double {
        try await ceiling.rate(rounds, 120 * rounds) {
            ceiling_crypto_item(
                ceiling.box,
                ceiling.itemBox,
                wrapped,
                wrappedCount,
                field,
                count,
                6,
                Int32(rounds)
            )
        }
    }
    try await bench.compare("item with its own key lent, six fields", .rate("/s"), aim: 0.7) {
        try await rate(of: rounds) {
            try ceiling.sealer.withKey(wrapped) { item throws(CryptoError) in
                var total = 0
                for _ in 0..<6 { total += try item.open(field).utf8.count }
                return total == 120
            }
        }
    } ceiling: {
        try await ceilingRate()
    }
    try await bench.compare("the same through a sealer of its own", .rate("/s")) {
        try await rate(of: rounds) {
            let item = Sealer(try ceiling.sealer.unwrapKey(wrapped))
            var total = 0
            for _ in 0..<6 { total += try item.open(field).utf8.count }
            return total == 120
        }
    } ceiling: {
        try await ceilingRate()
    }
}

/// Two callers on one key, beside one on a bare loop: how much a second core brings.
private func together(_ bench: Bench, _ ceiling: CryptoCeiling) async throws {
    let rounds = bench.count(100_000, quick: 1_000)
    let sealed = try ceiling.sealer.seal(String(repeating: "x", count: 32))
    let sealer = ceiling.sealer
    let count = sealed.utf8.count
    try await bench.compare("open EncString, 32 B, two callers", .rate("/s")) {
        let time = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask { for _ in 0..<rounds { _ = try sealer.open(sealed) } }
                }
                try await group.waitForAll()
            }
        }
        return Double(2 * rounds) / time
    } ceiling: {
        try await ceiling.rate(rounds, 32 * rounds) {
            ceiling_crypto_open(ceiling.box, sealed, count, Int32(rounds))
        }
    }
}

private func expensive(_ bench: Bench) async throws {
    let derivations: [(String, KeyDerivation)] =
        bench.isQuick
        ? [("PBKDF2, 5,000 iterations", .pbkdf2(iterations: 5_000))]
        : [
            ("PBKDF2, 600,000 iterations", .pbkdf2(iterations: 600_000)),
            (
                "Argon2id, 64 MiB, 3 iterations, 4 lanes",
                .argon2id(iterations: 3, mebibytes: 64, lanes: 4)
            ),
            (
                "Argon2id, 32 MiB, 6 iterations, 4 lanes",
                .argon2id(iterations: 6, mebibytes: 32, lanes: 4)
            ),
        ]
    for (name, derivation) in derivations {
        try await bench.measure(name, unit: "ms") {
            try await 1_000
                * seconds {
                    _ = try MasterKey(
                        password: Secret(utf8: "password"),
                        salt: "salt",
                        derivation: derivation
                    )
                }
        }
    }
    let rsa = try PrivateKey()
    let wrapped = try PublicKey(rsa.publicKey()).wrap(SymmetricKey(from: SystemEntropy()))
    try await bench.measure("organisation's key, RSA-2048", unit: "ms") {
        try await 1_000 * seconds { _ = try rsa.unwrapKey(wrapped) }
    }
}

private func rate(of rounds: Int, _ work: () throws -> Bool) async throws -> Double {
    var isRight = true
    let time = try await seconds { for _ in 0..<rounds where try !work() { isRight = false } }
    precondition(isRight, "What is measured does not do its work.")
    return Double(rounds) / time
}
