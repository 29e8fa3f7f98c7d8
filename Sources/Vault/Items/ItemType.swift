/// What kind of thing an item is, by upstream's number.
public enum ItemType: Hashable, Sendable {
    case login, secureNote, card, identity, sshKey
    /// One that this host cannot open: bank accounts, licences and passports (6 to 8), and whatever
    /// is invented next.
    case other(Int)

    public init(_ number: Int) {
        switch number {
        case 1: self = .login
        case 2: self = .secureNote
        case 3: self = .card
        case 4: self = .identity
        case 5: self = .sshKey
        default: self = .other(number)
        }
    }

    public var number: Int {
        switch self {
        case .login: 1
        case .secureNote: 2
        case .card: 3
        case .identity: 4
        case .sshKey: 5
        case .other(let number): number
        }
    }

    /// The member that holds what only this type has.
    var member: String? {
        switch self {
        case .login: "login"
        case .secureNote: "secureNote"
        case .card: "card"
        case .identity: "identity"
        case .sshKey: "sshKey"
        case .other: nil
        }
    }
}
