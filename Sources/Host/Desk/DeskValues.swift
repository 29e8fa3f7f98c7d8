public import Bitwarden
public import Sync
public import Vault

/// Something that clients are told, with its place in the row of all that.
public struct NumberedEvent: Sendable {
    public let number: Int
    public let event: MeshEvent

    init(_ number: Int, _ event: MeshEvent) {
        self.number = number
        self.event = event
    }
}

/// The network as the host sees it.
public struct NetworkStanding: Hashable, Sendable {
    public var isDrill: Bool
    public var state: NetworkState
    public var since: Moment
}

/// How an account stands.
public struct AccountStanding: Sendable {
    public enum Status: String, CaseIterable, Hashable, Sendable {
        case locked, unlocked, signedOut
    }

    public struct Pending: Hashable, Sendable {
        public var total = 0
        public var ready = 0
        public var inFlight = 0
        public var backingOff = 0
        public var quarantined = 0
        public var oldest: Moment?

        public init() {}
    }

    public var id: String
    public var email: String
    /// The server's address in one spelling, however it was given; as events name it.
    public var server: String
    public var status: Status
    public var isDefault: Bool
    public var lastSync: Moment?
    public var lastReport: SyncReport?
    public var network: NetworkState
    public var pending: Pending
    public var isPremium: Bool
    /// When something that failed is tried again, and the longest wait that is in force.
    public var nextRetry: Moment?
    public var backoff: Duration?
}

/// How an account stands, as far as that is known without counting anything.
public struct AccountOutline: Hashable, Sendable {
    public var id: String
    public var email: String
    public var server: String
    public var status: AccountStanding.Status
    public var lastSync: Moment?
    public var isPremium: Bool
}

/// What signing in needs.
public struct SignInRequest: Sendable {
    public var email: String
    public var password: String
    /// Nil for the host's default server.
    public var server: String?
    public var apiKey: (clientID: String, clientSecret: String)?
    public var twoFactorToken: String?
    public var twoFactorProvider: Int?
    /// The code that was mailed because the device is new.
    public var newDeviceCode: String?
    public var isDefault: Bool?

    /// - Parameter email: As somebody has typed it. Servers know no blanks around it.
    public init(email: String, password: String) {
        self.email = email.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self.password = password
    }
}

public typealias ViewedItem = Sync.ViewedItem
public typealias Written = Sync.Written

public struct ViewedFolder: Hashable, Sendable {
    public let id: String
    public let name: String
}

public struct ViewedCollection: Hashable, Sendable {
    public let id: String
    public let organizationID: String
    public let name: String
    public let externalID: String?
}

/// A send, opened.
public struct ViewedSend: Sendable {
    public let answer: SendAnswer
    /// The server's address of its page, with the key that opens it; nil where that is not known.
    public let url: String?
    /// In Base64; nil where it cannot be opened. Then nothing else of it can be.
    public let key: String?
    public let name: String
    public let notes: String?
    public let text: String?
    public let fileName: String?

    public init(
        _ answer: SendAnswer,
        url: String?,
        key: String?,
        name: String,
        notes: String?,
        text: String?,
        fileName: String?
    ) {
        self.answer = answer
        self.url = url
        self.key = key
        self.name = name
        self.notes = notes
        self.text = text
        self.fileName = fileName
    }
}

/// What a client wants of a text send.
public struct SendDraft: Hashable, Sendable {
    public var name: String
    public var notes: String?
    public var text: String
    public var isHidden = false
    public var password: String?
    public var maxAccessCount: Int?
    public var deletion: Moment
    public var expiration: Moment?
    public var isDisabled = false
    public var hidesEmail = false
}

/// Why the host does not do what it was asked for.
public enum DeskRefusal: Error, Sendable {
    case noAccount
    case locked
    case wrongPassword
    /// The password is right, and a code of one of these is wanted as well.
    case needsSecondFactor(providers: [Int])
    /// The password is right, and the code is wanted as well that was mailed just now.
    case needsNewDeviceCode(String)
    case notFound
    /// A rule of the API, in its own words.
    case notAllowed(String)
    /// What was sent makes no item.
    case unfit(EditRefusal)
    /// Upstream does not want it, or cannot be asked.
    case upstream(Setback)
    /// So much is pending that no more is taken on, or the disk is full.
    case noRoom(String)
    case store(StoreError)
    /// It is recorded and will be sent; what has come of it so far is not known.
    case unsettled(StoreError?)
    /// It was asked for when the host was ending, or had too much to do.
    case busy
}

extension DeskRefusal {
    /// No account was named, and none of those here is the default one. It begins with the words that clients know.
    public static let noDefaultAccount = DeskRefusal.notAllowed(
        "\(DeskRefusal.noAccount) None of the accounts here is the default one. \(wayToName)"
    )
    /// How programs name an account.
    public static let wayToName = "Put /accounts/ID before the path, or make one the default."
}

extension DeskRefusal: CustomStringConvertible {
    /// What a client is shown.
    public var description: String {
        switch self {
        case .noAccount: "You are not logged in."
        case .locked: "Vault is locked."
        case .wrongPassword: "Invalid master password."
        case .needsSecondFactor:
            "Two-factor authentication is on for this account: send twoFactorToken, and"
                + " twoFactorProvider if it is not 0 (an authenticator)."
        case .needsNewDeviceCode(let words):
            "\(words) Send newDeviceOtp, the code that the server has mailed."
        case .notFound: "Not found."
        case .notAllowed(let words), .noRoom(let words): words
        case .unfit(let refusal): refusal.description
        case .upstream(let setback): setback.rejection?.message ?? setback.description
        case .store(let error): error.description
        case .unsettled(let error):
            "The edit is recorded and will be sent; do not repeat it. What has come of it so far could"
                + " not be written down\(error.map { ": \($0)" } ?? ", for the host is ending.")"
        case .busy: "The host has too much to do. Try again in a moment."
        }
    }
}

extension PendingChange.State {
    /// When it is tried next, as far as that is known.
    ///
    /// - Parameter moment: Before this nothing of its account is sent.
    func nextAttempt(heldUntil moment: Moment?) -> Moment? {
        switch self {
        case .ready: moment
        case .backingOff(let end): max(end, moment ?? end)
        case .inFlight, .quarantined: nil
        }
    }
}
