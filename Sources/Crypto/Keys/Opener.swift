/// Opens texts for the time of a closure, under a sealer's own key (``Sealer/withOpener(_:)``) or
/// under one that it unwraps (``Sealer/withKey(_:_:)``).
public struct Opener: ~Copyable {
    private let contexts: KeyedContexts

    init(_ contexts: KeyedContexts) {
        self.contexts = contexts
    }

    public func open(_ sealed: String) throws(CryptoError) -> String {
        try sealed.withUTF8Bytes { sealed throws(CryptoError) in try contexts.openText(sealed) }
    }

    public func open(utf8 sealed: UnsafeRawBufferPointer) throws(CryptoError) -> String {
        try contexts.openText(sealed)
    }
}
