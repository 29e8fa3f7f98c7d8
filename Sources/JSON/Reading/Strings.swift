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
        if !extent.hasEscapes && extent.end - extent.start - 2 != name.count { return false }
        return withName(at: extent) { letters.agree($0, name) }
    }

    /// Lends the bytes of the name at the extent, its escapes resolved.
    @inline(__always)
    func withName<Result>(
        at extent: Extent,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        let (start, end) = (extent.start + 1, extent.end - 1)
        guard extent.hasEscapes else {
            return body(UnsafeBufferPointer(rebasing: self[start..<end]))
        }
        return unescaped(from: start, to: end).withUnsafeBufferPointer(body)
    }
}

/// How the first letters of two names are compared.
@usableFromInline
enum Letters {
    case exact
    case anyCase

    /// Whether the two are the same name.
    @inline(__always)
    func agree(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        guard let mine = one.baseAddress, let theirs = other.baseAddress, !one.isEmpty else {
            return true
        }
        return agree(mine.pointee, theirs.pointee)
            && memcmp(mine + 1, theirs + 1, one.count - 1) == 0
    }

    @inline(__always)
    func agree(_ one: UInt8, _ other: UInt8) -> Bool {
        if one == other { return true }
        guard self == .anyCase, one ^ other == 0x20 else { return false }
        return 0x61...0x7A ~= one | 0x20
    }
}
