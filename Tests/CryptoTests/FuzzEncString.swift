import Crypto

/// Whatever the bytes are: parsing and opening them either succeeds consistently or is refused with a
/// typed error. Uses what is public only, so that a fuzzer can be built around it.
func fuzzEncString(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let parsed = try? EncString(utf8: bytes) {
        let again = try? EncString(parsed.text)
        precondition(again == parsed, "What was parsed is not written as it was.")
        if parsed.kind.isSymmetric {
            let buffer = try? EncString(buffer: parsed.buffer)
            precondition(buffer == parsed, "The binary form says something else.")
        }
    } else {
        precondition((try? fuzzKey.open(utf8: bytes)) == nil, "What does not parse was opened.")
    }
    _ = try? EncString(buffer: Array(bytes))
    _ = try? fuzzKey.open(text)
    _ = try? fuzzKey.open(buffer: Array(bytes)).count
    if let plaintext = try? fuzzKey.seal(text) {
        precondition((try? fuzzKey.open(plaintext)) == text, "What was sealed does not open.")
    }
}

private let fuzzKey = Sealer(SymmetricKey(from: SystemEntropy()))
