import CCrypto

/// The contexts of one stream.
struct AttachmentBox: ~Copyable {
    private let box: OpaquePointer

    init(_ key: borrowing SymmetricKey) throws(CryptoError) {
        guard key.hasMAC else { throw .downgrade }
        guard let box = cc_box_new() else { throw .libraryFailed(.contexts) }
        let isKeyed = key.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return cc_box_key(box, start, start + 32) == 1
        }
        guard isKeyed else {
            cc_box_free(box)
            throw .libraryFailed(.contexts)
        }
        self.box = box
    }

    deinit {
        cc_box_free(box)
    }

    func beginMAC(over iv: [UInt8]) throws(CryptoError) {
        guard cc_box_mac_begin(box) == 1 else { throw .libraryFailed(.authentication) }
        try updateMAC(iv)
    }

    func updateMAC(_ bytes: [UInt8]) throws(CryptoError) {
        guard cc_box_mac_update(box, bytes, bytes.count) == 1 else {
            throw .libraryFailed(.authentication)
        }
    }

    func endMAC() throws(CryptoError) -> [UInt8] {
        var mac = [UInt8](repeating: 0, count: 32)
        guard cc_box_mac_end(box, &mac) == 1 else { throw .libraryFailed(.authentication) }
        return mac
    }

    func beginEncryption(_ iv: [UInt8]) throws(CryptoError) {
        guard cc_box_encrypt_begin(box, iv) == 1 else { throw .libraryFailed(.encryption) }
    }

    func encrypt(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Self.produced(.encryption, capacity: bytes.count + 16) { out, count in
            cc_box_encrypt_update(box, bytes, bytes.count, out, &count)
        }
    }

    func endEncryption() throws(CryptoError) -> [UInt8] {
        try Self.produced(.encryption, capacity: 16) { out, count in
            cc_box_encrypt_end(box, out, &count)
        }
    }

    func beginDecryption(_ iv: [UInt8]) throws(CryptoError) {
        guard cc_box_decrypt_begin(box, iv) == 1 else { throw .libraryFailed(.decryption) }
    }

    func decrypt(_ bytes: [UInt8]) throws(CryptoError) -> Secret {
        try Self.revealed(capacity: bytes.count + 16) { out, count in
            cc_box_decrypt_update(box, bytes, bytes.count, out, &count)
        }
    }

    func endDecryption() throws(CryptoError) -> Secret {
        try Self.revealed(capacity: 16) { out, count in cc_box_decrypt_end(box, out, &count) }
    }

    private static func produced(
        _ step: CryptoError.Step,
        capacity: Int,
        _ produce: (UnsafeMutableRawPointer?, inout Int) -> Int32
    ) throws(CryptoError) -> [UInt8] {
        var isDone = false
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
            isDone = produce(UnsafeMutableRawPointer(out.baseAddress), &count) == 1
        }
        guard isDone else { throw .libraryFailed(step) }
        return bytes
    }

    private static func revealed(
        capacity: Int,
        _ produce: (UnsafeMutableRawPointer?, inout Int) -> Int32
    ) throws(CryptoError) -> Secret {
        var count = 0
        let scratch = try Secret(count: capacity) { out throws(CryptoError) in
            guard produce(out.baseAddress, &count) == 1 else { throw .undecryptable }
        }
        return scratch.withUnsafeBytes { Secret(copying: .init(rebasing: $0[..<count])) }
    }
}
