public import Crypto
import FoundationEssentials
public import System

/// The tokens of this host: who may come in with what.
///
/// Looking one up takes no turn and no file. Whatever changes them is written down before it counts.
public actor TokenCabinet {
    private nonisolated let tokens: Lock<[Token]>
    private let file: TokenFile
    private let timekeeper: any Timekeeper
    private let entropy: any Entropy

    /// Opens what is kept in the state directory. At the very first start, a token for everything is
    /// made and its text left in `admin.token`.
    public init(
        state: String,
        timekeeper: any Timekeeper,
        entropy: any Entropy = SystemEntropy()
    ) throws(TokenError) {
        file = TokenFile(state: state)
        self.timekeeper = timekeeper
        self.entropy = entropy
        if file.exists {
            tokens = Lock(try file.read())
            return
        }
        let first = FreshToken(.admin, accountID: nil, at: timekeeper.now, from: entropy)
        // The text first: without it, a token that is known would open to nobody.
        try file.writeAdmin(first)
        try file.write([first.token])
        tokens = Lock([first.token])
    }

    /// In the order in which they were made.
    public nonisolated var all: [Token] { tokens.withLock { $0 } }

    /// Whom the text lets in.
    ///
    /// Every token is compared to its end: the time tells neither which was near nor how near.
    public nonisolated func token(for text: String) -> Token? {
        let digest = Digest.sha256(Array(text.utf8))
        return tokens.withLock { tokens in
            var found: Token?
            for token in tokens where token.digest.isSame(as: digest) { found = token }
            return found
        }
    }

    public func create(
        _ scope: Caller.Scope,
        accountID: String?
    ) throws(TokenError) -> FreshToken {
        let fresh = FreshToken(scope, accountID: accountID, at: timekeeper.now, from: entropy)
        try replace(all + [fresh.token])
        return fresh
    }

    /// - Returns: Whether there was such a token.
    public func revoke(_ id: String) throws(TokenError) -> Bool {
        let kept = all.filter { $0.id != id }
        if kept.count == all.count { return false }
        try replace(kept)
        return true
    }

    /// Takes over what an operator has changed in the file.
    public func reload() throws(TokenError) {
        let read = try file.read()
        tokens.withLock { $0 = read }
    }

    private func replace(_ changed: [Token]) throws(TokenError) {
        try file.write(changed)
        tokens.withLock { $0 = changed }
    }
}

extension [UInt8] {
    /// Whether both are the same, in a time that depends on their length alone.
    fileprivate func isSame(as other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
