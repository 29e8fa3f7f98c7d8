/// Why the last try came to nothing.
public struct FailureNote: Hashable, Sendable {
    /// One of a small vocabulary. It is kept as it is written, whichever program wrote it.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
    }

    public let kind: Kind
    public let message: String
    /// When the first of the failures was that count; one trouble that lasts is not many.
    public var since: Moment?

    public init(kind: Kind, message: String, since: Moment? = nil) {
        self.kind = kind
        self.message = message
        self.since = since
    }

    /// Whether upstream has refused this before.
    public var isRefusal: Bool { kind == .rejected }
}

extension FailureNote.Kind {
    // What upstream said.
    public static let rejected = Self(rawValue: "rejected")
    public static let stale = Self(rawValue: "stale")
    public static let auth = Self(rawValue: "auth")
    public static let rateLimited = Self(rawValue: "rateLimited")
    public static let serverError = Self(rawValue: "serverError")
    public static let transport = Self(rawValue: "transport")
    public static let malformed = Self(rawValue: "malformed")

    // What is found here.
    public static let undecodable = Self(rawValue: "undecodable")
    public static let unsupported = Self(rawValue: "unsupported")
    public static let keyChanged = Self(rawValue: "key_changed")
    public static let undecryptable = Self(rawValue: "undecryptable")
    public static let occupied = Self(rawValue: "occupied")
    public static let unconfirmed = Self(rawValue: "unconfirmed")
    public static let locked = Self(rawValue: "locked")
    public static let behind = Self(rawValue: "behind")

    /// Whether it may be over once what is pending lies under the present key: what could not be opened may
    /// have been upstream's copy.
    public var endsWithNewKey: Bool { [.keyChanged, .occupied, .undecryptable].contains(self) }

    init(_ reason: Setback.Reason) {
        self =
            switch reason {
            case .rejected(let words) where words.isOfStore: .serverError
            case .rejected, .missing: .rejected
            case .stale: .stale
            case .unauthorised, .signedOut: .auth
            case .throttled: .rateLimited
            case .unavailable: .serverError
            case .unreachable, .foreign, .cancelled: .transport
            case .malformed: .malformed
            }
    }
}

extension FailureNote {
    public init(_ setback: Setback) {
        self.init(kind: Kind(setback.reason), message: setback.description)
    }
}
