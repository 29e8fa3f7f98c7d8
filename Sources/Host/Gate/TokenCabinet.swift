import Crypto
import System

/// The tokens of this host: who may come in with what.
///
/// Looking one up takes no turn and no file. Whatever changes them is written down before it counts.
actor TokenCabinet {
    private struct Holdings {
        var tokens: [Token]
        var guests: [Int: (tokenID: String, stay: AsyncStream<Void>.Continuation)] = [:]
        var nextGuest = 0
    }

    private nonisolated let holdings: Lock<Holdings>
    private let file: TokenFile
    private let timekeeper: any Timekeeper
    private let entropy: any Entropy

    /// Opens what is kept in the state directory. At the very first start, a token for everything is
    /// made and its text left in `admin.token`.
    init(
        state: String,
        timekeeper: any Timekeeper,
        entropy: any Entropy = SystemEntropy()
    ) throws(TokenError) {
        file = TokenFile(state: state)
        self.timekeeper = timekeeper
        self.entropy = entropy
        if try file.exists {
            holdings = Lock(Holdings(tokens: try file.read()))
            return
        }
        let first = FreshToken(.admin, accountID: nil, at: timekeeper.now, from: entropy)
        // The text first: without it, a token that is known would open to nobody.
        try file.writeAdmin(first)
        try file.write([first.token])
        holdings = Lock(Holdings(tokens: [first.token]))
    }

    /// In the order in which they were made.
    nonisolated var all: [Token] { holdings.withLock { $0.tokens } }

    /// Whom the text lets in.
    ///
    /// Every token is compared to its end: the time tells neither which was near nor how near.
    nonisolated func token(for text: String) -> Token? {
        let digest = Digest.sha256(Array(text.utf8))
        return holdings.withLock { holdings in
            var found: Token?
            for token in holdings.tokens where token.digest.isSame(as: digest) { found = token }
            return found
        }
    }

    func create(
        _ scope: Caller.Scope,
        accountID: String?
    ) throws(TokenError) -> FreshToken {
        let fresh = FreshToken(scope, accountID: accountID, at: timekeeper.now, from: entropy)
        try replace(all + [fresh.token])
        return fresh
    }

    /// - Returns: Whether there was such a token.
    func revoke(_ id: String) throws(TokenError) -> Bool {
        let kept = all.filter { $0.id != id }
        if kept.count == all.count { return false }
        try replace(kept)
        return true
    }

    /// Takes over what an operator has changed in the file.
    func reload() throws(TokenError) {
        hold(try file.read())
    }

    /// Returns when there is no such token any more.
    nonisolated func waitForRevocation(of id: String) async {
        let (presence, stay) = AsyncStream.makeStream(of: Void.self)
        let guest = holdings.withLock { holdings -> Int? in
            guard holdings.tokens.contains(where: { $0.id == id }) else { return nil }
            holdings.nextGuest += 1
            holdings.guests[holdings.nextGuest] = (id, stay)
            return holdings.nextGuest
        }
        guard let guest else { return }
        for await _ in presence {}
        _ = holdings.withLock { $0.guests.removeValue(forKey: guest) }
    }

    private func replace(_ changed: [Token]) throws(TokenError) {
        try file.write(changed)
        hold(changed)
    }

    private func hold(_ tokens: [Token]) {
        let ids = Set(tokens.map(\.id))
        let revoked = holdings.withLock { holdings in
            holdings.tokens = tokens
            return holdings.guests.values.filter { !ids.contains($0.tokenID) }
        }
        for guest in revoked { guest.stay.finish() }
    }
}

extension [UInt8] {
    /// Whether both are the same, in a time that depends on their length alone.
    fileprivate func isSame(as other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
