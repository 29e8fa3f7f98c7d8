public import Bitwarden
public import Vault

/// What an account's session lives on. As good as a password; to be kept sealed.
public struct Tokens: Hashable, Sendable {
    public var userID: String
    public var access: String
    /// By our own clock, so that nobody else's has to be right.
    public var expires: Moment
    public var renewal: Renewal

    /// How the next access token is got.
    public enum Renewal: Hashable, Sendable {
        case refresh(token: String, clientID: String)
        /// Nothing but the key itself; upstream gives no refresh token for it.
        case apiKey(clientID: String, secret: String, device: Device)
        case none
    }

    public init(userID: String, access: String, expires: Moment, renewal: Renewal) {
        self.userID = userID
        self.access = access
        self.expires = expires
        self.renewal = renewal
    }

    /// A token is renewed when so little of its time is left.
    static let margin: Int64 = 300

    func isFresh(at now: Moment) -> Bool { now.advanced(bySeconds: Self.margin) < expires }
    func isValid(at now: Moment) -> Bool { now < expires }
}

/// Says that there are tokens and not which.
extension Tokens: CustomStringConvertible, CustomReflectable {
    public var description: String { "tokens of an account" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Tokens {
    /// - Returns: Nil if the access token does not say whose it is, for then it is no access token.
    init?(_ answer: TokenAnswer, renewal: Renewal, received: Moment) {
        guard let claims = AccessClaims(token: answer.accessToken) else { return nil }
        let seconds = Int64(min(max(answer.secondsLeft, 0), 1 << 31))
        self.init(
            userID: claims.userID,
            access: answer.accessToken,
            expires: received.advanced(bySeconds: seconds),
            renewal: answer.refreshToken.map {
                .refresh(token: $0, clientID: claims.clientID)
            } ?? renewal
        )
    }
}
