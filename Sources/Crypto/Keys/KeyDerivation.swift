/// How a master password becomes a master key, as the upstream says at prelogin.
///
/// The numbers come from outside and are held to ``Parameter/allowed``. Below, a hostile upstream
/// could have a cheap hash made and try passwords against it; above, it could take the host's time
/// and memory.
public enum KeyDerivation: Hashable, Sendable {
    case pbkdf2(iterations: Int)
    case argon2id(iterations: Int, mebibytes: Int, lanes: Int)

    public enum Parameter: CaseIterable, Sendable {
        case pbkdf2Iterations, argon2Iterations, argon2Mebibytes, argon2Lanes

        /// The floors are those of the official clients. The ceilings leave room above what any
        /// known upstream lets a user choose, and bound an unlock to some seconds.
        public var allowed: ClosedRange<Int> {
            switch self {
            case .pbkdf2Iterations: 5_000...10_000_000
            case .argon2Iterations: 2...32
            case .argon2Mebibytes: 16...1_024
            case .argon2Lanes: 1...16
            }
        }
    }

    /// Reads the numbers of the wire: 0 is PBKDF2, 1 is Argon2id with its memory in MiB.
    public init(
        kdf: Int,
        iterations: Int,
        memory: Int?,
        parallelism: Int?
    ) throws(CryptoError) {
        switch kdf {
        case 0: self = .pbkdf2(iterations: iterations)
        case 1:
            self = .argon2id(
                iterations: iterations,
                mebibytes: memory ?? 0,
                lanes: parallelism ?? 0
            )
        default: throw .unknownDerivation(kdf)
        }
        try check()
    }

    /// Refuses what lies outside the bounds. Every derivation begins with it.
    public func check() throws(CryptoError) {
        for (parameter, value) in parameters where !parameter.allowed.contains(value) {
            throw .outOfBounds(parameter, value: value, allowed: parameter.allowed)
        }
    }

    private var parameters: [(Parameter, Int)] {
        switch self {
        case .pbkdf2(let iterations): [(.pbkdf2Iterations, iterations)]
        case .argon2id(let iterations, let mebibytes, let lanes):
            [
                (.argon2Iterations, iterations), (.argon2Mebibytes, mebibytes),
                (.argon2Lanes, lanes),
            ]
        }
    }

    /// The salt of an account: the upstream's own if it sent one, else its email, trimmed and in
    /// lower case.
    public static func salt(server: String?, email: String) -> String {
        if let server { return server }
        let start = email.firstIndex { !$0.isWhitespace } ?? email.endIndex
        let end = email.lastIndex { !$0.isWhitespace }.map(email.index(after:)) ?? email.endIndex
        return email[start..<end].lowercased()
    }
}
