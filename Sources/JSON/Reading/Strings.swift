import Glibc

extension UnsafeBufferPointer<UInt8> {
    /// The string or name at the extent, its escapes resolved. The extent has been checked before.
    func string(at extent: Extent) -> String {
        let (start, end) = (extent.start + 1, extent.end - 1)
        guard extent.hasEscapes else {
            return String(decoding: UnsafeBufferPointer(rebasing: self[start..<end]), as: UTF8.self)
        }
        return String(decoding: unescaped(from: start, to: end), as: UTF8.self)
    }

    private func unescaped(from start: Int, to end: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - start)
        var at = start
        while let backslash = offset(of: .backslash, from: at, before: end) {
            bytes += UnsafeBufferPointer(rebasing: self[at..<backslash])
            guard let escape = Escape(in: self, at: backslash, before: end) else {
                preconditionFailure("The escapes were checked when the text was read.")
            }
            bytes += escape.scalar.utf8
            at = backslash + escape.length
        }
        return bytes + UnsafeBufferPointer(rebasing: self[at..<end])
    }

    /// Whether the name at the extent is this one, however it is spelled with escapes.
    @inline(__always)
    func name(at extent: Extent, is name: UnsafeBufferPointer<UInt8>, _ letters: Letters) -> Bool {
        if extent.hasEscapes { return unescapedName(at: extent, is: name, letters) }
        let length = extent.end - extent.start - 2
        guard length == name.count else { return false }
        guard length > 0, let mine = baseAddress, let other = name.baseAddress else { return true }
        let first = mine + extent.start + 1
        guard letters.agree(first.pointee, other.pointee) else { return false }
        return memcmp(first + 1, other + 1, length - 1) == 0
    }

    private func unescapedName(
        at extent: Extent,
        is name: UnsafeBufferPointer<UInt8>,
        _ letters: Letters
    ) -> Bool {
        let plain = unescaped(from: extent.start + 1, to: extent.end - 1)
        guard plain.count == name.count else { return false }
        guard let first = plain.first, let other = name.first else { return true }
        return letters.agree(first, other) && plain.dropFirst().elementsEqual(name.dropFirst())
    }
}

/// How the first letters of two names are compared.
enum Letters {
    case exact
    case anyCase

    @inline(__always)
    func agree(_ one: UInt8, _ other: UInt8) -> Bool {
        if one == other { return true }
        guard self == .anyCase, one ^ other == 0x20 else { return false }
        return 0x61...0x7A ~= one | 0x20
    }
}
