import Crypto

/// What must hold of any bytes at all when they are parsed and opened as an EncString.
public struct EncStringOpening: Property {
    private let sealer: Sealer

    public init() {
        sealer = Sealer(SymmetricKey(from: SystemEntropy()))
    }

    public func violation(by bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { parsing($0) } ?? buffer(bytes)
            ?? sealing(String(decoding: bytes, as: UTF8.self))
    }

    private func parsing(_ bytes: UnsafeRawBufferPointer) -> String? {
        _ = try? EncString(utf8: bytes)
        // Nobody makes up a MAC.
        return (try? sealer.open(utf8: bytes)) == nil ? nil : "What nobody sealed was opened."
    }

    private func buffer(_ bytes: [UInt8]) -> String? {
        (try? sealer.open(buffer: bytes).count) == nil
            ? nil : "What nobody sealed was opened."
    }

    private func sealing(_ text: String) -> String? {
        guard let sealed = try? sealer.seal(text) else { return "A text was not sealed." }
        guard (try? sealer.open(sealed)) == text else { return "What was sealed does not open." }
        return (try? EncString(sealed)) != nil ? nil : "What was sealed does not parse."
    }
}
